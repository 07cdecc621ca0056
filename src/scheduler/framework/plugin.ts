/**
 * What a plug-in is: a name, and a function for each extension point that it wants to be asked at. One file of
 * `plugins/` each.
 */
import type { FieldType } from '../../machinery/schema.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import type { EventRegistration } from './cluster-events.ts'
import type { Cycle, PostFilterResult, QueuedPod } from './cycle.ts'
import type { Handle } from './handle.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pods/pod-info.ts'
import type { Snapshot } from './snapshot.ts'
import type { Refusal, Status } from './status.ts'

/** Scores go from 0 to this, after `normalize`. */
export const maxNodeScore = 100

/** What PreFilter found out. */
export interface PreFiltered<Filtering> {
  readonly state: Filtering
  /** The only nodes that come into question; all, unless said. */
  readonly nodes?: ReadonlySet<string>
}

/**
 * `Filtering` is what PreFilter worked out for this pod: the steps after it get it back, one object for the whole
 * cycle. `Scoring` is the same for PreScore and Score. From PreFilter to Score nothing may wait: they are called for
 * every node. What any of them throws ends the pod's attempt as an Error.
 */
export interface Plugin<Filtering = unknown, Scoring = unknown> {
  /**
   * What may make a pod schedulable that this plug-in refused. Without it: everything. An empty list: nothing but the
   * pod's own change.
   */
  readonly events?: readonly EventRegistration[]

  /** Whether the pod may come into the active queue at all. */
  preEnqueue?(pod: PodInfo): Status | undefined
  /**
   * Which of two pods is tried first: less than 0 for `a`. Only one plug-in of a profile has it, the same one in all
   * profiles.
   */
  less?(a: QueuedPod, b: QueuedPod): boolean

  /** Works out what all nodes need to know, refuses the pod everywhere, or skips Filter with `skip`. */
  preFilter?(pod: PodInfo, snapshot: Snapshot): PreFiltered<Filtering> | Status
  /**
   * Tells the state that a pod came to a node (on a copy, for preemption). A new state is not made: this one changes.
   */
  addPod?(state: Filtering, pod: PodInfo, added: PodInfo, node: NodeInfo): void
  removePod?(state: Filtering, pod: PodInfo, removed: PodInfo, node: NodeInfo): void
  /** A copy that addPod and removePod may change; needed where there are these. */
  copyState?(state: Filtering): Filtering
  /** Why the pod cannot go to this node; `undefined` if it can. Constant statuses cost nothing: make them once. */
  filter?(state: Filtering, pod: PodInfo, node: NodeInfo): Status | undefined
  /** Asked when no node was left, in order, until one of them has an answer. */
  postFilter?(cycle: Cycle, refusals: ReadonlyMap<string, Refusal>): PostFilterResult | Promise<PostFilterResult>

  /**
   * Works out what Score needs of all the nodes that are left (`state` is PreFilter's, if it gave one), or skips Score
   * with `skip`.
   */
  preScore?(
    pod: PodInfo,
    nodes: readonly NodeInfo[],
    state: Filtering | undefined,
  ): { readonly state: Scoring } | Status
  /** How good this node is: any number if there is a `normalize`, else 0 to `maxNodeScore`. */
  score?(state: Scoring, pod: PodInfo, node: NodeInfo): number
  /** Brings the scores of all nodes to 0 … `maxNodeScore`, in place; `scores[i]` is that of `nodes[i]`. */
  normalize?(state: Scoring, pod: PodInfo, scores: number[], nodes: readonly NodeInfo[]): void

  /** Takes what the pod needs; a status undoes all that was reserved. */
  reserve?(state: Filtering | undefined, pod: PodInfo, node: string): Status | undefined
  /** Gives back what `reserve` took, if it did. Called in the opposite order; must not throw. */
  unreserve?(state: Filtering | undefined, pod: PodInfo, node: string): void
  /** Lets the pod pass, refuses it, or has it `wait` until `Handle.waitingPods` is told. */
  permit?(state: Filtering | undefined, pod: PodInfo, node: string): Status | undefined
  /** Whether PreBind has work to do for this pod; yes, unless said. */
  needsPreBind?(state: Filtering | undefined, pod: PodInfo, node: string): boolean
  /**
   * Does what has to be done before the pod is bound, and may take its time: until `signal` is aborted, as the pod is
   * not to be bound any more.
   */
  preBind?(state: Filtering | undefined, pod: PodInfo, node: string, signal: AbortSignal): Promise<Status | undefined>
  /** Binds the pod, or leaves it to the next one with `skip`. */
  bind?(pod: PodInfo, node: string): Promise<Status | undefined>
  postBind?(state: Filtering | undefined, pod: PodInfo, node: string): void
}

/** The arguments of `pluginConfig`, whose kind is the plug-in's name with `Args`. */
export interface ArgsKind<Args> {
  /** Their shape: decoding is strict. */
  readonly fields: Readonly<Record<string, FieldType>>
  /** Fills in what was not given. */
  withDefaults(given: Partial<Args>): Args
  validate?(args: Args, path: string): FieldError[]
}

/** A plug-in as registries hold it. */
export interface PluginFactory<Args = unknown> {
  readonly name: string
  /** Without it the plug-in takes no arguments, and gets `undefined`. */
  readonly args?: ArgsKind<Args>
  /** Makes the plug-in for one profile. Throws an Error that says what to do if it cannot. */
  make(args: Args, handle: Handle): Plugin
}

/** Plug-ins by their names. Programs add their own to those of `plugins/`. */
export type Registry = ReadonlyMap<string, PluginFactory>

/** A plug-in: only ties the types of its arguments together. */
export const pluginFactory = <Args = undefined>(factory: PluginFactory<Args>): PluginFactory => factory as PluginFactory
