/** What a plug-in may use: the caches, the client, and what the scheduler knows. */

import type { RecordedEvent } from '../../client/events/series-recorder.ts'
import type { IndexFunction } from '../../client/informers/object-index.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { Extender } from './extender.ts'
import type { PodInfo } from './pods/pod-info.ts'
import type { Snapshot } from './snapshot.ts'

/** The objects of a kind, as last seen. They are shared and must not be changed. An Informer is one. */
export interface Lister<T extends KubeObject> {
  /** `namespace` is empty for what has none. */
  get(namespace: string, name: string): T | undefined
  all(): Iterable<T>
  in(namespace: string): Iterable<T>
  /** Those that an index function gives a value for. */
  by(values: IndexFunction<T>, value: string): Iterable<T>
  /** Told of what is there, and of every change; returns what ends it. */
  onChange(handler: (object: T | undefined, before: T | undefined) => void): () => void
}

/** A pod that Permit makes wait. */
export interface WaitingPod {
  readonly pod: PodInfo
  readonly node: string
  /** The plug-ins that it still waits for. */
  readonly pendingPlugins: ReadonlySet<string>
  allow(plugin: string): void
  reject(plugin: string, message: string): void
}

/** A pod that PreBind prepares. */
export interface PreparingPod {
  /** It is not bound: it is tried again after a pause, and told why. */
  cancel(why: string): void
}

export interface Handle {
  /** The profile's scheduler name. */
  readonly profile: string
  readonly client: RestClient
  readonly snapshot: Snapshot
  /**
   * Follows a kind from now on: to be called in `make`, so that all is known before the first pod is scheduled. A kind
   * that the server does not have is empty.
   */
  lister<T extends KubeObject>(resource: Resource<T>): Lister<T>
  /** Pods that wait for room on this node after preemption. */
  nominatedPods(node: string): readonly PodInfo[]
  /** The node where room is being made for the pod of this uid. */
  nominatedNode(uid: string): string | undefined
  /** Takes the nominations of these pods away, in memory; the API is the caller's affair. */
  clearNominations(pods: Iterable<PodInfo>): void
  readonly waitingPods: { get(uid: string): WaitingPod | undefined; all(): Iterable<WaitingPod> }
  readonly preparingPods: { get(uid: string): PreparingPod | undefined }
  readonly extenders: readonly Extender[]
  /** Brings these pods (`namespace/name`) into the active queue. */
  activate(keys: Iterable<string>): void
  /** Tells an event in the profile's name. */
  record(event: RecordedEvent): void
  /** Counts a preemption in the metrics. */
  countPreemption(victims: number): void
  readonly now: () => number
  /** 0 to 1. */
  readonly random: () => number
  readonly log: (line: string) => void
}
