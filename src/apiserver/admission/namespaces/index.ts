/** Plug-ins that check or create the namespace of a write. */
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
