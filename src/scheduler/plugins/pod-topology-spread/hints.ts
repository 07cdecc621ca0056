/** Queueing hints: changes that may help a pod rejected because of its spread constraints. */
import type { Node, Pod } from '../../../client/kinds.ts'
import { own } from '../../../lib/own.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { type EventRegistration, NodeInfo, on, PodInfo } from '../../framework/index.ts'
import { type Constraint, hasAllKeys, isNodeCounted, matchingKey, requiredNodesOf } from './constraints.ts'

type ConstraintsOf = (pod: PodInfo) => readonly Constraint[]

export const events = (constraintsOf: ConstraintsOf): readonly EventRegistration[] => [
  on('Pod', ['Add', 'UpdateLabel', 'UpdateToleration', 'Delete'], (pod, before, after) =>
    podMayHelp(pod, constraintsOf, before, after),
  ),
  on('Node', ['Add', 'Delete', 'UpdateLabel', 'UpdateTaint'], (pod, before, after) =>
    nodeMayHelp(pod, constraintsOf(pod), before, after),
  ),
]

/** True if a counted pod is added or deleted, or labels change whether it is counted. */
function podMayHelp(
  pod: PodInfo,
  constraintsOf: ConstraintsOf,
  before: Pod | undefined,
  after: Pod | undefined,
): boolean {
  if (before && after && after.metadata.uid === pod.pod.metadata.uid)
    return itselfMayHelp(constraintsOf, new PodInfo(before), new PodInfo(after))
  const changed = after ?? before
  if (!changed?.spec?.nodeName || changed.metadata.namespace !== pod.namespace) return false
  const isCounted = ({ selector }: Constraint, other: Pod | undefined): boolean =>
    other !== undefined && selector.matches(new PodInfo(other).labels)
  return constraintsOf(pod).some((constraint) => isCounted(constraint, before) !== isCounted(constraint, after))
}

/**
 * True if the pod's labels change its constraints (services and `matchLabelKeys` depend on them), or if it tolerates
 * taints that exclude nodes from counting.
 */
function itselfMayHelp(constraintsOf: ConstraintsOf, before: PodInfo, after: PodInfo): boolean {
  const spread = (pod: PodInfo): readonly string[] =>
    constraintsOf(pod).map(
      (constraint) => `${matchingKey(constraint, pod.namespace)} ${constraint.selector.matches(pod.labels)}`,
    )
  if (!semanticallyEqual(spread(before), spread(after))) return true
  const bearsOthers = !semanticallyEqual(before.pod.spec?.tolerations, after.pod.spec?.tolerations)
  return bearsOthers && constraintsOf(after).some(({ honorsTaints }) => honorsTaints)
}

/** True if a domain appears, disappears, or is counted from now on. */
function nodeMayHelp(
  pod: PodInfo,
  constraints: readonly Constraint[],
  before: Node | undefined,
  after: Node | undefined,
): boolean {
  const place = (node: Node | undefined): string => {
    const info = node && new NodeInfo(node)
    if (!info || !hasAllKeys(constraints, info)) return ''
    const required = requiredNodesOf(pod)
    return JSON.stringify(
      constraints.map((constraint) => [
        own(info.labels, constraint.topologyKey),
        isNodeCounted(constraint, pod, info, required),
      ]),
    )
  }
  return place(before) !== place(after)
}
