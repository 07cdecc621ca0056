/** The handle of plug-ins: caches, the client, and the scheduler's state. */

import type { RecordedEvent } from '../../client/events/series-recorder.ts'
import type { IndexFunction } from '../../client/informers/object-index.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { Clock } from '../../lib/clock/clock.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { Extender } from './extender.ts'
import type { PodInfo } from './pods/pod-info.ts'
import type { Snapshot } from './snapshot.ts'

/** A cache of the objects of a kind. They are shared and must not be changed. An Informer is one. */
export interface Lister<T extends KubeObject> {
  /** `namespace` is empty for cluster-scoped kinds. */
  get(namespace: string, name: string): T | undefined
  all(): Iterable<T>
  in(namespace: string): Iterable<T>
  /** The objects for which an index function returns the value. */
  by(values: IndexFunction<T>, value: string): Iterable<T>
  /** Calls `handler` for every object now, and on each change. Returns a function that stops it. */
  onChange(handler: (object: T | undefined, before: T | undefined) => void): () => void
}

/** A pod that waits in Permit. */
export interface WaitingPod {
  readonly pod: PodInfo
  readonly node: string
  /** The plug-ins that have not allowed the pod yet. */
  readonly pendingPlugins: ReadonlySet<string>
  allow(plugin: string): void
  reject(plugin: string, message: string): void
}

/** A pod in PreBind. */
export interface PreparingPod {
  /** Cancels the binding. The pod is retried after its back-off, with `why` in its status. */
  cancel(why: string): void
}

/** The services of the scheduler for plug-ins. Its times, `now` and `after`, are those of the cluster's clock. */
export interface Handle extends Pick<Clock, 'now' | 'after'> {
  /** The profile's scheduler name. */
  readonly profile: string
  readonly client: RestClient
  readonly snapshot: Snapshot
  /**
   * Follows a kind from now on. Call it in `make`, so that the kind is synced before the first pod is scheduled. A kind
   * that the server does not have is empty.
   */
  lister<T extends KubeObject>(resource: Resource<T>): Lister<T>
  /** Pods nominated for this node by preemption. */
  nominatedPods(node: string): readonly PodInfo[]
  /** The node for which the pod of this uid is nominated. */
  nominatedNode(uid: string): string | undefined
  /** Clears the nominations of these pods in memory; the caller updates the API. */
  clearNominations(pods: Iterable<PodInfo>): void
  readonly waitingPods: { get(uid: string): WaitingPod | undefined; all(): Iterable<WaitingPod> }
  readonly preparingPods: { get(uid: string): PreparingPod | undefined }
  readonly extenders: readonly Extender[]
  /** Moves these pods (`namespace/name`) to the active queue. */
  activate(keys: Iterable<string>): void
  /** Records an event in the name of the profile. */
  record(event: RecordedEvent): void
  /** Counts a preemption in the metrics. */
  countPreemption(victims: number): void
  /** 0 to 1. */
  readonly random: () => number
  readonly log: (line: string) => void
}
