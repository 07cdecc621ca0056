/**
 * The two kinds that replicate pods: ReplicaSets and the older ReplicationControllers. They differ mainly in selectors.
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
  /** The controller's name, as in `--controllers`. */
  readonly controller: string
  /** The source component of events. */
  readonly component: string
  readonly selector: (set: T) => Selector
  /** True if the status counts terminating pods. */
  readonly countsTerminating: boolean
  /** True if the deletion cost annotation is ignored. */
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
