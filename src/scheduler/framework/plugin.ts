/** A plug-in: a name, and a function for each extension point that it implements. Each is one file of `plugins/`. */
import type { FieldType } from '../../machinery/schema.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import type { EventRegistration } from './cluster-events.ts'
import type { Cycle, PostFilterResult, QueuedPod } from './cycle.ts'
import type { Handle } from './handle.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pods/pod-info.ts'
import type { Snapshot } from './snapshot.ts'
import type { Rejection, Status } from './status.ts'

/** The maximum of scores after `normalize`; the minimum is 0. */
export const maxNodeScore = 100

/** The result of PreFilter. */
export interface PreFiltered<Filtering> {
  readonly state: Filtering
  /** The only nodes to consider. Default: all. */
  readonly nodes?: ReadonlySet<string>
}

/**
 * `Filtering` is the state that PreFilter computes for a pod: later steps get it back, one object for the whole cycle.
 * `Scoring` is the same for PreScore and Score. Functions from PreFilter to Score are synchronous, for they are called
 * for every node. An exception in any of them ends the attempt with an Error.
 */
export interface Plugin<Filtering = unknown, Scoring = unknown> {
  /**
   * Events that may make a pod schedulable that this plug-in rejected. Default: all events. Empty: only changes of the
   * pod itself.
   */
  readonly events?: readonly EventRegistration[]

  /** Rejects a pod that may not enter the active queue. */
  preEnqueue?(pod: PodInfo): Status | undefined
  /** Returns true if `a` is scheduled before `b`. Exactly one plug-in implements it, the same one in all profiles. */
  less?(a: QueuedPod, b: QueuedPod): boolean

  /** Computes what Filter needs for all nodes, rejects the pod on all nodes, or skips Filter with `skip`. */
  preFilter?(pod: PodInfo, snapshot: Snapshot): PreFiltered<Filtering> | Status
  /** Updates the state, in place, for a pod that is added to a node (a copy, for preemption). */
  addPod?(state: Filtering, pod: PodInfo, added: PodInfo, node: NodeInfo): void
  removePod?(state: Filtering, pod: PodInfo, removed: PodInfo, node: NodeInfo): void
  /** A copy of the state for addPod and removePod; required with these. */
  copyState?(state: Filtering): Filtering
  /**
   * Returns the reason why the pod cannot run on this node; `undefined` if it can. Reuse constant statuses: it is
   * called often.
   */
  filter?(state: Filtering, pod: PodInfo, node: NodeInfo): Status | undefined
  /** Called in order when no node fits, until one of them has a result. */
  postFilter?(cycle: Cycle, rejections: ReadonlyMap<string, Rejection>): PostFilterResult | Promise<PostFilterResult>

  /**
   * Computes what Score needs of all feasible nodes (`state` is that of PreFilter, if any), or skips Score with `skip`.
   */
  preScore?(
    pod: PodInfo,
    nodes: readonly NodeInfo[],
    state: Filtering | undefined,
  ): { readonly state: Scoring } | Status
  /** The score of the node: any number with `normalize`, otherwise 0 to `maxNodeScore`. */
  score?(state: Scoring, pod: PodInfo, node: NodeInfo): number
  /** Scales the scores of all nodes to 0 … `maxNodeScore`, in place; `scores[i]` is that of `nodes[i]`. */
  normalize?(state: Scoring, pod: PodInfo, scores: number[], nodes: readonly NodeInfo[]): void

  /** Reserves what the pod needs. A status undoes all reservations. */
  reserve?(state: Filtering | undefined, pod: PodInfo, node: string): Status | undefined
  /** Releases what `reserve` reserved, if anything. Called in reverse order; must not throw. */
  unreserve?(state: Filtering | undefined, pod: PodInfo, node: string): void
  /** Allows the pod, rejects it, or returns `wait` until a call to `Handle.waitingPods`. */
  permit?(state: Filtering | undefined, pod: PodInfo, node: string): Status | undefined
  /** Returns true if PreBind has work to do for this pod. Default: true. */
  needsPreBind?(state: Filtering | undefined, pod: PodInfo, node: string): boolean
  /** Prepares the binding. It may take long; `signal` is aborted when the pod will not be bound. */
  preBind?(state: Filtering | undefined, pod: PodInfo, node: string, signal: AbortSignal): Promise<Status | undefined>
  /** Binds the pod, or returns `skip` for the next plug-in. */
  bind?(pod: PodInfo, node: string): Promise<Status | undefined>
  postBind?(state: Filtering | undefined, pod: PodInfo, node: string): void
}

/** The arguments in `pluginConfig`. Their kind is the plug-in's name with `Args`. */
export interface ArgsKind<Args> {
  /** The fields. Decoding is strict. */
  readonly fields: Readonly<Record<string, FieldType>>
  /** Fills in defaults. */
  withDefaults(given: Partial<Args>): Args
  validate?(args: Args, path: string): FieldError[]
}

/** A plug-in in a registry. */
export interface PluginFactory<Args = unknown> {
  readonly name: string
  /** Default: the plug-in takes no arguments, and gets `undefined`. */
  readonly args?: ArgsKind<Args>
  /** Makes the plug-in for one profile. Throws an Error that says what to do if it cannot. */
  make(args: Args, handle: Handle): Plugin
}

/** Plug-ins by name. Programs add their own to those of `plugins/`. */
export type Registry = ReadonlyMap<string, PluginFactory>

/**
 * Returns the factory itself, with the type of its arguments inferred.
 * @example
 * const onlyMondays = pluginFactory({
 *   name: 'OnlyMondays',
 *   make: () => ({ filter: () => (new Date().getDay() === 1 ? undefined : unschedulable('it is not Monday')) }),
 * })
 */
export const pluginFactory = <Args = undefined>(factory: PluginFactory<Args>): PluginFactory => factory as PluginFactory
