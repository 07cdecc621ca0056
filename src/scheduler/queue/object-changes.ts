/** The cluster events that a change of a pod or a node stands for. */
import type { Node, Pod } from '../../client/kinds.ts'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { ClusterEvent, EventAction } from '../framework/cluster-events.ts'
import { podRequests } from '../framework/pods/pod-requests.ts'
import { amountOf, type Resources } from '../framework/resources.ts'

/** Empty for an irrelevant change, such as a heartbeat. */
export function nodeActions(before: Node, after: Node): readonly EventAction[] {
  const actions: EventAction[] = []
  const differs = (read: (node: Node) => unknown): boolean => !semanticallyEqual(read(before), read(after))
  if (differs(({ spec }) => spec?.taints) || differs(({ spec }) => spec?.unschedulable || undefined))
    actions.push('UpdateTaint')
  if (differs(({ status }) => status?.allocatable)) actions.push('UpdateAllocatable')
  if (differs(({ metadata }) => metadata.labels)) actions.push('UpdateLabel')
  if (differs(conditions)) actions.push('UpdateCondition')
  if (differs(({ metadata }) => metadata.annotations)) actions.push('UpdateAnnotation')
  if (differs(({ status }) => status?.declaredFeatures)) actions.push('UpdateDeclaredFeature')
  return actions
}

const conditions = ({ status }: Node): readonly string[] =>
  (status?.conditions ?? []).map(({ type, status: state }) => `${type}=${state}`).sort()

/** `Update` if no more specific action applies. */
export function podActions(before: Pod, after: Pod): readonly EventAction[] {
  const actions: EventAction[] = []
  if (!semanticallyEqual(before.metadata.labels, after.metadata.labels)) actions.push('UpdateLabel')
  if (isScaledDown(before, after)) actions.push('UpdateScaleDown')
  if (before.spec?.schedulingGates?.length && !after.spec?.schedulingGates?.length)
    actions.push('UpdateSchedulingGatesEliminated')
  if (!semanticallyEqual(before.spec?.tolerations, after.spec?.tolerations)) actions.push('UpdateToleration')
  if (!semanticallyEqual(generatedClaims(before), generatedClaims(after))) actions.push('UpdateGeneratedResourceClaim')
  return actions.length > 0 ? actions : ['Update']
}

/** The claims generated for the pod. */
const generatedClaims = ({ status }: Pod): readonly unknown[] => [
  status?.resourceClaimStatuses,
  status?.extendedResourceClaimStatus,
]

/** Returns true if the pod requests less of a resource than before. */
function isScaledDown(before: Pod, after: Pod): boolean {
  if (before.spec === after.spec && before.status === after.status) return false
  const had = podRequests(before).requests
  const has = podRequests(after).requests
  return namesOf(had).some((name) => amountOf(has, name) < amountOf(had, name))
}

const namesOf = ({ scalar }: Resources): readonly string[] => ['cpu', 'memory', 'ephemeral-storage', ...scalar.keys()]

/**
 * The event for a pod that gives up its node (or nomination): for others, as if it had been on the node and was
 * deleted.
 */
export const placeFreed = (pod: Pod, nodeName: string): ClusterEvent<'Pod'> => ({
  resource: 'Pod',
  action: 'Delete',
  before: { ...pod, spec: { ...pod.spec, nodeName, containers: pod.spec?.containers ?? [] } },
})
