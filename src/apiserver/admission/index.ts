/**
 * The enabled admission plug-ins, in the order in which they run. To add one, register it in the `index.ts` of its
 * folder.
 */
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { ownWriter } from '../registry/write/own-writer.ts'
import { AdmissionChain } from './admission-chain.ts'
import { alwaysPlugins } from './always/index.ts'
import { defaultPlugins } from './defaults/index.ts'
import { identityPlugins } from './identity/index.ts'
import { limitPlugins } from './limits/index.ts'
import { namespacePlugins } from './namespaces/index.ts'
import type { AdmissionPlugin, PluginFactory, PluginSources } from './plugin.ts'

import { isPluginOn, pluginOrder } from './plugin-order.ts'
import { podSecurityPlugins } from './pod-security/index.ts'
import { podPlugins, privilegedContainers } from './pods/index.ts'
import type { TolerationSeconds } from './pods/scheduling/default-toleration-seconds.ts'
import { policyPlugins } from './policies/index.ts'
import { quotaPlugins } from './quota/index.ts'
import { stepMetrics } from './step-metrics.ts'
import { storagePlugins } from './storage/index.ts'
import { webhookPlugins } from './webhooks/index.ts'

export interface AdmissionOptions {
  /** Names of plug-ins enabled in addition to the default ones (`--enable-admission-plugins`). */
  readonly enabled?: readonly string[]
  /** Names of disabled plug-ins. */
  readonly disabled?: readonly string[]
  /** The decoded configuration of each plug-in (`--admission-control-config-file`). */
  readonly configuration?: Readonly<Record<string, unknown>>
  readonly tolerationSeconds?: TolerationSeconds
  /** Allows privileged containers (`--allow-privileged`). Default: true. */
  readonly allowPrivileged?: boolean
}

const factories: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  ...alwaysPlugins,
  ...defaultPlugins,
  ...identityPlugins,
  ...limitPlugins,
  ...namespacePlugins,
  ...podPlugins,
  ...podSecurityPlugins,
  ...quotaPlugins,
  ...policyPlugins,
  ...storagePlugins,
  ...webhookPlugins,
}

/** Throws an ExplainedError for a plug-in with an invalid configuration. */
export function admissionChain(
  sources: Omit<PluginSources, 'configuration' | 'writer'>,
  options: AdmissionOptions = {},
): AdmissionChain {
  const { enabled = [], disabled = [], configuration = {}, allowPrivileged = true } = options
  const isOn = (name: string): boolean => isPluginOn(name, { enabled, disabled }, sources.registry.features)
  const given: PluginSources = {
    ...sources,
    configuration: (plugin) => (Object.hasOwn(configuration, plugin) ? configuration[plugin] : undefined),
    writer: () => ownWriter(sources.registry, admission),
  }
  const plugins = pluginOrder.filter(isOn).flatMap((name) => createPlugin(name, given, options) ?? [])
  const admission = new AdmissionChain(
    allowPrivileged ? plugins : [privilegedContainers(given), ...plugins],
    stepMetrics(sources.metrics),
  )
  return admission
}

function createPlugin(name: string, sources: PluginSources, options: AdmissionOptions): AdmissionPlugin | undefined {
  try {
    return factories[name]?.(sources, options)
  } catch (error) {
    throw new ExplainedError(
      `failed to initialize admission: couldn't init admission plugin ${JSON.stringify(name)}: ${reasonOf(error)}`,
      { cause: error },
    )
  }
}
