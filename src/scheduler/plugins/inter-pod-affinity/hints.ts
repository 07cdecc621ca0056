/** Which changes may help a pod that pod (anti-)affinity kept from all nodes. */
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

/** A pod that is wanted comes, one that is not wanted goes, or labels make one of the other. */
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
  // The last one that was near has gone: now the pod may be the first.
  const mayBeFirst = isNear(was) && !isNear(is) && allMatch(pod.requiredAffinity, pod, namespaceLabels)
  return (isNear(is) && !isNear(was)) || (isFar(was) && !isFar(is)) || mayBeFirst
}

/**
 * A node comes into a domain that terms speak of, or leaves one, and its pods with it: that may help on other nodes,
 * too. Terms of others, which are against the pod, may name any label: for them any change counts, of a node that is in
 * all the domains the pod needs.
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
 * Labels choose the namespace for a term of the pod now, or no longer; terms of others mean the pod by the labels of
 * its own namespace.
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
