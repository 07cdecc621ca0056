/**
 * What an admission plug-in is: it looks at every write after it was decoded; some change it, some refuse it. One file
 * per plug-in.
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

/** A plug-in, ready to look at writes. What has no `start` is ready at once. */
export interface AdmissionPlugin {
  /** Upstream's name. */
  readonly name: string
  /** Which operations it looks at; all unless said. What others do costs it nothing. */
  readonly handles?: readonly Operation[]
  /** May change `object`; throws a StatusError to refuse. */
  readonly mutate?: Step
  /** Throws a StatusError to refuse. */
  readonly validate?: Step
  /** Whether others, outside of this process, may be asked about what is written; not unless said. */
  asksOthers?(): boolean
  /** Reads what it decides by; resolves when it may be asked. The server serves only then. */
  start?(): Promise<void>
  stop?(): void
}

/** Gives a promise only if it has to wait. */
export type Step = (attributes: AdmissionAttributes) => void | Promise<void>

/** What plug-ins are made of. */
export interface PluginSources {
  readonly registry: Registry
  /** A resource of Kubernetes' own by its key: `v1/pods`, `apps/v1/deployments`. */
  readonly find: (key: string) => ServedResource
  readonly authorizer: Authorizer
  /** What is served just now, custom resources among it. */
  readonly apis: ServedApis
  /** How Services are reached. */
  readonly places: ServiceSources
  readonly metrics: MetricsRegistry
  /** The plug-in's own part of `--admission-control-config-file`, decoded from YAML; undefined if it has none. */
  readonly configuration: (plugin: string) => unknown
  /** The server's own hand, whose writes all plug-ins look at too. To be asked for when there is something to write. */
  readonly writer: () => Writer
  readonly log: Log
}

export type PluginFactory<Options> = (sources: PluginSources, options: Options) => AdmissionPlugin

/** As metrics call the two steps. */
export type StepType = 'admit' | 'validating'

/** Counts a step of a write that took so many seconds. */
export type StepMetrics = (type: StepType, operation: Operation, rejected: boolean, seconds: number) => void
