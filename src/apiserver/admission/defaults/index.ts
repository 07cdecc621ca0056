/** Plug-ins that set a default class on objects that name none. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './default-storage-class.ts'

export const defaultPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  DefaultIngressClass: defaultIngressClass,
  DefaultStorageClass: defaultStorageClass,
}
