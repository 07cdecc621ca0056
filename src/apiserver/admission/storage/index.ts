/** Plug-ins for volumes and claims. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { persistentVolumeClaimResize } from './claim-resize.ts'
import { storageObjectInUseProtection } from './in-use-protection.ts'

export const storagePlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  PersistentVolumeClaimResize: persistentVolumeClaimResize,
  StorageObjectInUseProtection: storageObjectInUseProtection,
}
