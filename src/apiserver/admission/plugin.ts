/**
 * What an admission plug-in is: it looks at every write after it was decoded; some change it, some refuse it. One file
 * per plug-in.
 */

import { after } from '../../lib/flow/after.ts'
import { settle } from '../../lib/flow/settle.ts'
import type { Log } from '../../lib/log/log.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { ServiceSources } from '../aggregator/index.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { Request, UserInfo } from '../http/exchange.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { Writer } from '../registry/write/write-context.ts'
import { removeDuplicateOwners } from '../request/bodies/duplicate-owners.ts'
import type { DeleteOptions } from '../request/delete-options.ts'
import type { WriteOptions } from '../request/write-options.ts'
import type { ServedApis } from '../served-apis.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/**
 * That a write's mutating plug-ins are asked once more, because one that came late changed what others had seen.
 * Plug-ins that care keep here what they need to know in the second round.
 */
export interface Reinvocation {
  readonly round: 0 | 1
  /** Whether there is to be a second round. */
  wanted: boolean
  /** By plug-in. */
  readonly states: Map<string, unknown>
}

/** What a write is about. `object` is absent for deletes, `old` for creates. */
export interface AdmissionAttributes {
  readonly operation: Operation
  readonly resource: ServedResource
  /** Empty, or `status`, `scale`, `binding`, …; then `object` may be of another kind (Scale, Binding, Eviction). */
  readonly subresource: string
  readonly namespace: string
  /** Empty where a name is still to be generated. */
  readonly name: string
  readonly user: UserInfo
  /**
   * One that validates may put another in its place: those after it see that one, and what is stored stays as it is.
   */
  object?: KubeObject
  readonly old?: KubeObject
  /**
   * What `object` and `old` are where that is not the resource's own kind: Scale, Binding, Eviction, PodExecOptions.
   */
  readonly kind?: GroupVersionKind
  /** The options of a DELETE, as the client sent them. */
  readonly deletion?: DeleteOptions
  /** Made by the first plug-in that wants it. */
  reinvocation?: Reinvocation
  readonly dryRun: boolean
  readonly options: WriteOptions
  /** Whose answer may be waited for no more. The server's own writes have none. */
  readonly request?: Pick<Request, 'signal' | 'deadline' | 'waitedMs'>
  /** Adds a text to the Warning headers of the answer. */
  readonly warn: (text: string) => void
  /**
   * Adds an annotation to the audit event of the request: `pod-security.kubernetes.io/enforce-policy`. One of the level
   * `Request` shows what was sent.
   */
  readonly annotate: (key: string, value: string, level?: 'Request') => void
}

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

/** All plug-ins that are on, in order. What only one of them has to wait for is a promise. */
export class Admission {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #mutating: Readonly<Record<Operation, readonly Step[]>>
  readonly #validating: Readonly<Record<Operation, readonly Step[]>>

  /** Told how long all plug-ins together took; nobody counts if absent. */
  readonly #counted: StepMetrics | undefined

  constructor(plugins: readonly AdmissionPlugin[], counted?: StepMetrics) {
    this.#plugins = plugins
    this.#counted = counted
    this.#mutating = byOperation(plugins, ({ mutate }) => mutate)
    this.#validating = byOperation(plugins, ({ validate }) => validate)
  }

  async start(): Promise<void> {
    await Promise.all(this.#plugins.map((plugin) => plugin.start?.()))
  }

  stop(): void {
    for (const plugin of this.#plugins) plugin.stop?.()
  }

  /** Whether others, outside of this process, may be asked about what is written. */
  get asksOthers(): boolean {
    return this.#plugins.some((plugin) => plugin.asksOthers?.())
  }

  mutate(attributes: AdmissionAttributes): void | Promise<void> {
    const steps = this.#mutating[attributes.operation]
    return this.#timed('admit', attributes, () =>
      after(
        after(inOrder(steps, attributes), () => onceMore(steps, attributes)),
        () => oneOfEachOwner(attributes),
      ),
    )
  }

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    return this.#timed('validating', attributes, () => inOrder(this.#validating[attributes.operation], attributes))
  }

  #timed(type: StepType, { operation }: AdmissionAttributes, work: () => void | Promise<void>): void | Promise<void> {
    const counted = this.#counted
    if (!counted) return work()
    const started = performance.now()
    const done = (rejected: boolean): void => counted(type, operation, rejected, (performance.now() - started) / 1000)
    return settle(
      work,
      () => done(false),
      (error) => {
        done(true)
        throw error
      },
    )
  }
}

function byOperation(
  plugins: readonly AdmissionPlugin[],
  stepOf: (plugin: AdmissionPlugin) => Step | undefined,
): Record<Operation, readonly Step[]> {
  const steps = (operation: Operation): Step[] =>
    plugins.flatMap((plugin) =>
      (plugin.handles?.includes(operation) ?? true) ? (stepOf(plugin)?.bind(plugin) ?? []) : [],
    )
  return { CREATE: steps('CREATE'), UPDATE: steps('UPDATE'), DELETE: steps('DELETE'), CONNECT: steps('CONNECT') }
}

/** The second round, if a plug-in wants one; there is no third. */
function onceMore(steps: readonly Step[], attributes: AdmissionAttributes): void | Promise<void> {
  const { reinvocation } = attributes
  if (!reinvocation?.wanted) return
  attributes.reinvocation = { ...reinvocation, round: 1, wanted: false }
  return inOrder(steps, attributes)
}

/** Others may have given the object an owner twice. */
function oneOfEachOwner({ operation, object, warn }: AdmissionAttributes): void {
  if (operation === 'CONNECT' || !object?.metadata?.ownerReferences) return
  const warning = removeDuplicateOwners(object.metadata, 'after mutating admission happens')
  if (warning) warn(warning)
}

function inOrder(steps: readonly Step[], attributes: AdmissionAttributes, from = 0): void | Promise<void> {
  for (let i = from; i < steps.length; i++) {
    const done = steps[i]!(attributes)
    if (done) return done.then(() => inOrder(steps, attributes, i + 1))
  }
}
