/** The admission plug-ins that are on, in the order in which they look at a write. To add one, put it into its folder's `index.ts`. */
import { namespacePlugins } from './namespaces/index.ts'
import { Admission, type PluginFactory, type PluginSources } from './plugin.ts'
import { pluginOrder, usualPlugins } from './plugin-order.ts'
import { podSecurityPlugins } from './pod-security/index.ts'
import { podPlugins, privilegedContainers } from './pods/index.ts'
import type { TolerationSeconds } from './pods/scheduling/default-toleration-seconds.ts'

export interface AdmissionOptions {
  /** Names of plug-ins that are on beside the usual ones (`--enable-admission-plugins`). */
  readonly enabled?: readonly string[]
  /** Names of plug-ins that are off. */
  readonly disabled?: readonly string[]
  /** By plug-in: its configuration, decoded (`--admission-control-config-file`). */
  readonly configuration?: Readonly<Record<string, unknown>>
  readonly tolerationSeconds?: TolerationSeconds
  /** Whether containers may be privileged (`--allow-privileged`); they may unless it says no. */
  readonly allowPrivileged?: boolean
}

const factories: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  ...namespacePlugins,
  ...podPlugins,
  ...podSecurityPlugins,
}

export function admissionChain(sources: Omit<PluginSources, 'configuration'>, options: AdmissionOptions = {}): Admission {
  const { enabled = [], disabled = [], configuration = {}, allowPrivileged = true } = options
  const isOn = (name: string): boolean => (usualPlugins.has(name) || enabled.includes(name)) && !disabled.includes(name)
  const given: PluginSources = { ...sources, configuration: (plugin) => configuration[plugin] }
  const plugins = pluginOrder.filter(isOn).flatMap((name) => factories[name]?.(given, options) ?? [])
  return new Admission(allowPrivileged ? plugins : [privilegedContainers(given), ...plugins])
}
