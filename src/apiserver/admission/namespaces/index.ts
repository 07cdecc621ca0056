/** Plug-ins about namespaces: whether there is one, and what may be made in it. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { namespaceAutoProvision } from './namespace-auto-provision.ts'
import { namespaceExists } from './namespace-exists.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'

export const namespacePlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  NamespaceAutoProvision: namespaceAutoProvision,
  NamespaceExists: namespaceExists,
  NamespaceLifecycle: namespaceLifecycle,
}
