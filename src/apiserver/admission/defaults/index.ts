/** Plug-ins that fill in classes that an object does not name. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './default-storage-class.ts'

export const defaultPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  DefaultIngressClass: defaultIngressClass,
  DefaultStorageClass: defaultStorageClass,
}
