/**
 * The two kinds that keep a number of equal pods: ReplicaSets and, older, ReplicationControllers. They differ in little
 * but their selectors.
 */
import {
  type ReplicaSet,
  type ReplicationController,
  replicaSets,
  replicationControllers,
} from '../../../client/kinds.ts'
import type { Resource } from '../../../client/resource.ts'
import { labelSelectorOf, nothing, type Selector } from '../../../machinery/selectors/label-selector.ts'

export type PodSet = ReplicaSet | ReplicationController

export interface PodSetKind<T extends PodSet> {
  readonly resource: Resource<T>
  /** The controller's, as `--controllers` takes it. */
  readonly controller: string
  /** As whom events are told. */
  readonly component: string
  readonly selector: (set: T) => Selector
  /** Whether the status tells how many pods are deleted and still run. */
  readonly countsTerminating: boolean
  /** Annotations of pods do not say which of them go first. */
  readonly ignoresDeletionCost?: boolean
}

export const replicaSetKind: PodSetKind<ReplicaSet> = {
  resource: replicaSets,
  controller: 'replicaset-controller',
  component: 'replicaset-controller',
  selector: ({ spec }) => labelSelectorOf(spec?.selector),
  countsTerminating: true,
}

export const replicationControllerKind: PodSetKind<ReplicationController> = {
  resource: replicationControllers,
  controller: 'replicationcontroller-controller',
  component: 'replication-controller',
  selector: ({ spec }) => (spec?.selector ? labelSelectorOf({ matchLabels: spec.selector }) : nothing),
  countsTerminating: false,
}
