/** The admission plug-ins that are on, in the order in which they look at a write. To add one, put it into its folder's `index.ts`. */
import { namespacePlugins } from './namespaces/index.ts'
import { Admission, type PluginFactory, type PluginSources } from './plugin.ts'
import { pluginOrder, usualPlugins } from './plugin-order.ts'
import type { TolerationSeconds } from './pods/default-toleration-seconds.ts'
import { podPlugins } from './pods/index.ts'
import { policyPlugins } from './policies/index.ts'
import { webhookPlugins } from './webhooks/index.ts'

export interface AdmissionOptions {
  /** Names of plug-ins that are on beside the usual ones (`--enable-admission-plugins`). */
  readonly enabled?: readonly string[]
  /** Names of plug-ins that are off. */
  readonly disabled?: readonly string[]
  /** By plug-in: its configuration, decoded (`--admission-control-config-file`). */
  readonly configuration?: Readonly<Record<string, unknown>>
  readonly tolerationSeconds?: TolerationSeconds
}

const factories: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  ...namespacePlugins,
  ...podPlugins,
  ...policyPlugins,
  ...webhookPlugins,
}

export function admissionChain(sources: Omit<PluginSources, 'configuration'>, options: AdmissionOptions = {}): Admission {
  const { enabled = [], disabled = [], configuration = {} } = options
  const isOn = (name: string): boolean => (usualPlugins.has(name) || enabled.includes(name)) && !disabled.includes(name)
  const given: PluginSources = { ...sources, configuration: (plugin) => configuration[plugin] }
  return new Admission(pluginOrder.filter(isOn).flatMap((name) => factories[name]?.(given, options) ?? []))
}
