/**
 * The admission plug-ins that are on, in the order in which they look at a write. To add one, put it into its folder's
 * `index.ts`.
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

/** Throws an ExplainedError for a plug-in whose configuration makes no sense. */
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
  const plugins = pluginOrder.filter(isOn).flatMap((name) => made(name, given, options) ?? [])
  const admission = new AdmissionChain(
    allowPrivileged ? plugins : [privilegedContainers(given), ...plugins],
    stepMetrics(sources.metrics),
  )
  return admission
}

function made(name: string, sources: PluginSources, options: AdmissionOptions): AdmissionPlugin | undefined {
  try {
    return factories[name]?.(sources, options)
  } catch (error) {
    throw new ExplainedError(
      `failed to initialize admission: couldn't init admission plugin ${JSON.stringify(name)}: ${reasonOf(error)}`,
      { cause: error },
    )
  }
}
