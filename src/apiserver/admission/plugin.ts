/**
 * The interface of an admission plug-in. A plug-in gets each write after it was decoded, and may mutate or reject it.
 * One file per plug-in.
 */

import type { Log } from '../../lib/log/log.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { ServiceSources } from '../outgoing/index.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedApis } from '../registry/served-apis.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { AdmissionAttributes, Operation } from '../registry/write/admission.ts'
import type { Writer } from '../registry/write/write-context.ts'

/** A plug-in. Without `start` it is ready immediately. */
export interface AdmissionPlugin {
  /** Upstream's name. */
  readonly name: string
  /** The operations that it handles. Default: all. Other operations skip the plug-in at no cost. */
  readonly handles?: readonly Operation[]
  /** May change `object`. Throws a StatusError to reject the write. */
  readonly mutate?: Step
  /** Throws a StatusError to reject the write. */
  readonly validate?: Step
  /** Returns true if the plug-in may call a service outside of this process. Default: false. */
  callsExternalServices?(): boolean
  /** Loads the data that the plug-in needs. The server serves only after this resolves. */
  start?(): Promise<void>
  stop?(): void
}

/** Returns a promise only if it has to wait. */
export type Step = (attributes: AdmissionAttributes) => void | Promise<void>

/** The dependencies of plug-ins. */
export interface PluginSources {
  readonly registry: Registry
  /** Returns a built-in resource by its key: `v1/pods`, `apps/v1/deployments`. */
  readonly find: (key: string) => ServedResource
  readonly authorizer: Authorizer
  /** The APIs currently served, custom resources included. */
  readonly apis: ServedApis
  /** Resolves Services to addresses. */
  readonly places: ServiceSources
  readonly metrics: MetricsRegistry
  /** The plug-in's section of `--admission-control-config-file`, decoded from YAML; undefined if there is none. */
  readonly configuration: (plugin: string) => unknown
  /**
   * Returns the writer of the server itself. Its writes pass all plug-ins too. Call it only when there is something to
   * write: it needs the finished chain.
   */
  readonly writer: () => Writer
  readonly log: Log
}

export type PluginFactory<Options> = (sources: PluginSources, options: Options) => AdmissionPlugin

/** The two steps, as the metrics name them. */
export type StepType = 'admit' | 'validating'

/** Observes a step of a write and its time in seconds. */
export type StepMetrics = (type: StepType, operation: Operation, rejected: boolean, seconds: number) => void
