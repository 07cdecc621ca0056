/**
 * What would have to change about the pods around a node: for pod affinity and anti-affinity, and for topology spread
 * constraints.
 */
import { own } from '../../lib/own.ts'
import { selectorText } from '../../machinery/selectors/label-selector.ts'
import { type AffinityTerm, type NodeInfo, type PodInfo, termMatches } from '../framework/index.ts'
import type { Surroundings } from './surroundings.ts'

const mostNames = 3

/** For required affinity of the pod, its anti-affinity, and that of pods that are there. */
export function affinityRemedies(pod: PodInfo, node: NodeInfo, surroundings: Surroundings): readonly string[] {
  const isMeant = (term: AffinityTerm, { namespace, labels }: PodInfo): boolean =>
    termMatches(term, namespace, labels, surroundings.namespaceLabels)
  const near = pod.requiredAffinity.flatMap((term) => {
    const place = placeOf(node, term)
    if (!place) return [`the node lacks the label ${term.topologyKey}, which its podAffinity goes by`]
    const isThere = inDomain(node, term, surroundings).some((other) => isMeant(term, other))
    return isThere
      ? []
      : [`it wants to be near a pod of ${labelsText(term)}, and there is none in ${place} (podAffinity)`]
  })
  const far = pod.requiredAntiAffinity.flatMap((term) => {
    const others = inDomain(node, term, surroundings).filter((other) => isMeant(term, other))
    return others.length > 0
      ? [
          `it wants to be far from pods of ${labelsText(term)}, and in ${placeOf(node, term)} is ` +
            `${namesOf(others)} (podAntiAffinity)`,
        ]
      : []
  })
  const against = [...surroundings.snapshot.nodesWithRequiredAntiAffinity].flatMap((there) =>
    there.podsWithRequiredAntiAffinity.flatMap((other) =>
      other.requiredAntiAffinity
        .filter((term) => isMeant(term, pod) && isSameDomain(node, there, term))
        .map(
          (term) =>
            `pod ${other.key} in ${placeOf(node, term)} wants to be far from pods like it (podAntiAffinity of ` +
            'that pod)',
        ),
    ),
  )
  return [...near, ...far, ...against.slice(0, mostNames)]
}

/** For constraints of the pod that must hold. */
export function spreadRemedies(pod: PodInfo, node: NodeInfo, surroundings: Surroundings): readonly string[] {
  return surroundings.spreadOf(pod).flatMap((constraint) => {
    const { topologyKey, maxSkew, minDomains, selector, domains } = constraint
    const place = placeOf(node, constraint)
    if (!place) return [`the node lacks the label ${topologyKey}, which its topologySpreadConstraints go by`]
    const has = domains.get(own(node.labels, topologyKey) ?? '') ?? 0
    const least = domains.size < minDomains ? 0 : Math.min(...domains.values())
    if (has + (selector.matches(pod.labels) ? 1 : 0) - least <= maxSkew) return []
    const fewest =
      domains.size < minDomains
        ? `there are fewer than ${minDomains} (minDomains), so that one is taken to have none`
        : `the emptiest has ${least}`
    return [`${place} has ${has} of its pods, and ${fewest}: no more than ${maxSkew} may be between them (maxSkew)`]
  })
}

type Keyed = Pick<AffinityTerm, 'topologyKey'>

/** `zone=a`; undefined for a node that has no such label. */
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
  const shown = pods.slice(0, mostNames).map(({ key }) => key)
  return `${shown.join(', ')}${pods.length > mostNames ? ` and ${pods.length - mostNames} more` : ''}`
}
