/**
 * Suggests changes to the pods around a node: for pod affinity and anti-affinity, and for topology spread constraints.
 */
import { own } from '../../lib/own.ts'
import { selectorText } from '../../machinery/selectors/label-selector.ts'
import { type AffinityTerm, type NodeInfo, type PodInfo, termMatches } from '../framework/index.ts'
import type { Surroundings } from './surroundings.ts'

const maxNames = 3

/** For required affinity and anti-affinity of the pod, and anti-affinity of the pods around it. */
export function affinityRemedies(pod: PodInfo, node: NodeInfo, surroundings: Surroundings): readonly string[] {
  const isSelected = (term: AffinityTerm, { namespace, labels }: PodInfo): boolean =>
    termMatches(term, namespace, labels, surroundings.namespaceLabels)
  const near = pod.requiredAffinity.flatMap((term) => {
    const place = placeOf(node, term)
    if (!place) return [`the node lacks the label ${term.topologyKey}, a topologyKey of its podAffinity`]
    const isMet = inDomain(node, term, surroundings).some((other) => isSelected(term, other))
    return isMet ? [] : [`podAffinity needs a pod with ${labelsText(term)} in ${place}, and there is none`]
  })
  const far = pod.requiredAntiAffinity.flatMap((term) => {
    const others = inDomain(node, term, surroundings).filter((other) => isSelected(term, other))
    return others.length > 0
      ? [`podAntiAffinity forbids pods with ${labelsText(term)} in ${placeOf(node, term)}: ` + `${namesOf(others)}`]
      : []
  })
  const against = [...surroundings.snapshot.nodesWithRequiredAntiAffinity].flatMap((otherNode) =>
    otherNode.podsWithRequiredAntiAffinity.flatMap((other) =>
      other.requiredAntiAffinity
        .filter((term) => isSelected(term, pod) && isSameDomain(node, otherNode, term))
        .map((term) => `podAntiAffinity of pod ${other.key} in ${placeOf(node, term)} forbids this pod`),
    ),
  )
  return [...near, ...far, ...against.slice(0, maxNames)]
}

/** For constraints of the pod with DoNotSchedule. */
export function spreadRemedies(pod: PodInfo, node: NodeInfo, surroundings: Surroundings): readonly string[] {
  return surroundings.spreadOf(pod).flatMap((constraint) => {
    const { topologyKey, maxSkew, minDomains, selector, domains } = constraint
    const place = placeOf(node, constraint)
    if (!place) return [`the node lacks the label ${topologyKey}, a topologyKey of its topologySpreadConstraints`]
    const has = domains.get(own(node.labels, topologyKey) ?? '') ?? 0
    const least = domains.size < minDomains ? 0 : Math.min(...domains.values())
    if (has + (selector.matches(pod.labels) ? 1 : 0) - least <= maxSkew) return []
    const fewest =
      domains.size < minDomains
        ? `the minimum counts as 0 with fewer than ${minDomains} domains (minDomains)`
        : `the minimum is ${least}`
    const matching = `${has} matching ${has === 1 ? 'pod' : 'pods'}`
    return [`${place} has ${matching}, and ${fewest}: maxSkew allows a difference of ${maxSkew}`]
  })
}

type Keyed = Pick<AffinityTerm, 'topologyKey'>

/** `zone=a`; undefined for a node without the label. */
function placeOf({ labels }: NodeInfo, { topologyKey }: Keyed): string | undefined {
  const domain = own(labels, topologyKey)
  return domain === undefined ? undefined : `${topologyKey}=${domain}`
}

function isSameDomain(a: NodeInfo, b: NodeInfo, term: Keyed): boolean {
  const place = placeOf(a, term)
  return place !== undefined && place === placeOf(b, term)
}

function inDomain({ labels }: NodeInfo, { topologyKey }: Keyed, surroundings: Surroundings): readonly PodInfo[] {
  const domain = own(labels, topologyKey)
  return domain === undefined ? [] : surroundings.podsIn(topologyKey, domain)
}

const labelsText = ({ selector }: AffinityTerm): string =>
  selectorText(selector) || (selector.everything ? 'any labels' : 'no labels')

function namesOf(pods: readonly PodInfo[]): string {
  const shown = pods.slice(0, maxNames).map(({ key }) => key)
  return `${shown.join(', ')}${pods.length > maxNames ? ` and ${pods.length - maxNames} more` : ''}`
}
