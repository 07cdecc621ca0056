/** The selector of default constraints: the selectors of the pod's services and controller, combined. */
import {
  type ReplicaSet,
  type ReplicationController,
  replicaSets,
  replicationControllers,
  type Service,
  type StatefulSet,
  services,
  statefulSets,
} from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { own } from '../../../lib/own.ts'
import { labelSelectorOf, type Selector, selectorOf } from '../../../machinery/selectors/label-selector.ts'
import type { Requirement } from '../../../machinery/selectors/requirement.ts'
import type { Handle, Lister, PodInfo } from '../../framework/index.ts'

/** Returns a function for the selector of a pod. It matches everything if the pod has no service and no controller. */
export function defaultSelectors(handle: Handle): (pod: PodInfo) => Selector {
  const ofServices = handle.lister(services)
  const sets = {
    ReplicationController: handle.lister(replicationControllers),
    ReplicaSet: handle.lister(replicaSets),
    StatefulSet: handle.lister(statefulSets),
  }
  return (pod) => selectorOf([...serviceRequirements(pod, ofServices), ...controllerRequirements(pod, sets)])
}

function serviceRequirements({ namespace, labels }: PodInfo, ofServices: Lister<Service>): Requirement[] {
  const merged = new Map<string, string>()
  for (const { spec } of ofServices.in(namespace)) {
    const entries = Object.entries(spec?.selector ?? {})
    if (entries.every(([key, value]) => own(labels, key) === value))
      for (const [key, value] of entries) merged.set(key, value)
  }
  return equalities(merged)
}

const equalities = (labels: Iterable<readonly [string, string]>): Requirement[] =>
  [...labels].map(([key, value]) => ({ key, operator: '=', values: [value] }))

interface Sets {
  readonly ReplicationController: Lister<ReplicationController>
  readonly ReplicaSet: Lister<ReplicaSet>
  readonly StatefulSet: Lister<StatefulSet>
}

function controllerRequirements({ namespace, pod }: PodInfo, sets: Sets): readonly Requirement[] {
  const owner = controllerOf(pod)
  switch (owner && `${owner.apiVersion}/${owner.kind}`) {
    case 'v1/ReplicationController':
      return equalities(
        Object.entries(sets.ReplicationController.get(namespace, owner?.name ?? '')?.spec?.selector ?? {}),
      )
    case 'apps/v1/ReplicaSet':
      return labelSelectorOf(sets.ReplicaSet.get(namespace, owner?.name ?? '')?.spec?.selector).requirements
    case 'apps/v1/StatefulSet':
      return labelSelectorOf(sets.StatefulSet.get(namespace, owner?.name ?? '')?.spec?.selector).requirements
    default:
      return []
  }
}
