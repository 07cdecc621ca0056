/** Queueing hints: changes that may help a pod rejected because of pod affinity or anti-affinity. */
import { isDeepStrictEqual } from 'node:util'
import type { Namespace, Node, Pod } from '../../../client/kinds.ts'
import { own } from '../../../lib/own.ts'
import { type AffinityTerm, type EventRegistration, on, PodInfo } from '../../framework/index.ts'
import { allMatch, isByNamespaceLabels, matches, type NamespaceLabels } from './terms.ts'

const isItself = (pod: PodInfo, changed: Pod | undefined): boolean => changed?.metadata.uid === pod.pod.metadata.uid

export const events = (namespaceLabels: NamespaceLabels): readonly EventRegistration[] => [
  on('Pod', ['Add', 'UpdateLabel', 'Delete'], (pod, before, after) => podMayHelp(pod, before, after, namespaceLabels)),
  on('Node', ['Add', 'UpdateLabel'], nodeMayHelp),
  on('Namespace', ['Add', 'Update'], namespaceMayHelp),
]

/** True if a pod with affinity is added, one with anti-affinity is deleted, or labels have that effect. */
function podMayHelp(
  pod: PodInfo,
  before: Pod | undefined,
  after: Pod | undefined,
  namespaceLabels: NamespaceLabels,
): boolean {
  if (isItself(pod, after)) return true
  const [was, is] = [before && new PodInfo(before), after && new PodInfo(after)]
  if ([was, is].some((other) => other && !other.pod.spec?.nodeName)) return false
  const isNear = (other: PodInfo | undefined): boolean =>
    other !== undefined && allMatch(pod.requiredAffinity, other, namespaceLabels)
  const isFar = (other: PodInfo | undefined): boolean =>
    other !== undefined &&
    (pod.requiredAntiAffinity.some((term) => matches(term, other, namespaceLabels)) ||
      other.requiredAntiAffinity.some((term) => matches(term, pod, namespaceLabels)))
  // The last pod with affinity is deleted, so the pod may be the first of its group.
  const mayBeFirst = isNear(was) && !isNear(is) && allMatch(pod.requiredAffinity, pod, namespaceLabels)
  return (isNear(is) && !isNear(was)) || (isFar(was) && !isFar(is)) || mayBeFirst
}

/**
 * True if a node joins or leaves a domain of the pod's terms, which may help on other nodes, too. Terms of other pods
 * may use any label, so every change counts of a node that is in all domains required by the pod's affinity.
 */
function nodeMayHelp(
  { requiredAffinity, requiredAntiAffinity }: PodInfo,
  before: Node | undefined,
  after: Node | undefined,
): boolean {
  const domain = ({ topologyKey }: AffinityTerm, node: Node | undefined): string | undefined =>
    own(node?.metadata.labels, topologyKey)
  return (
    [...requiredAffinity, ...requiredAntiAffinity].some((term) => domain(term, before) !== domain(term, after)) ||
    requiredAffinity.every((term) => domain(term, after) !== undefined)
  )
}

/**
 * True if the namespace is selected by a term from now on, or no longer; or if it is the pod's own, whose labels terms
 * of other pods select.
 */
function namespaceMayHelp(pod: PodInfo, before: Namespace | undefined, after: Namespace | undefined): boolean {
  if (pod.namespace === after?.metadata.name)
    return !isDeepStrictEqual(before?.metadata.labels ?? {}, after.metadata.labels ?? {})
  const isChosen = ({ namespaceSelector }: AffinityTerm, of: Namespace | undefined): boolean =>
    of !== undefined && namespaceSelector.matches(of.metadata.labels)
  return [...pod.requiredAffinity, ...pod.requiredAntiAffinity]
    .filter(isByNamespaceLabels)
    .some((term) => isChosen(term, before) !== isChosen(term, after))
}
