/** The choice of pods that end so that a critical pod fits: as few and as small ones as possible. Pure functions. */
import { qosClass } from '../../api/core/pod/resources/qos.ts'
import { type Pod, specOf } from '../pod-types.ts'
import { requestsOf, type Shortage } from './checks/resources.ts'
import { isPreemptable } from './critical-pods.ts'

/** Amounts that have to become free, by resource. */
type Needs = ReadonlyMap<string, bigint>

/** Throws an Error with upstream's message if all pods together do not free enough. */
export function podsToPreempt(pod: Pod, others: readonly Pod[], shortages: readonly Shortage[]): Pod[] {
  const needs: Needs = new Map(
    shortages.map(({ resource, requested, used, capacity }) => [resource, requested - (capacity - used)]),
  )
  const candidates = others.filter((other) => isPreemptable(other, pod))
  const classes = Map.groupBy(candidates, (one) => qosClass(specOf(one)))
  const { bestEffort, burstable, guaranteed } = {
    bestEffort: classes.get('BestEffort') ?? [],
    burstable: classes.get('Burstable') ?? [],
    guaranteed: classes.get('Guaranteed') ?? [],
  }
  const unmet = without(needs, candidates)
  if (unmet.size > 0) throw new Error(noPods(unmet))
  // Pods of a better class end only if all of the others do not free enough.
  const fromGuaranteed = nearest(guaranteed, without(needs, [...bestEffort, ...burstable]))
  const fromBurstable = nearest(burstable, without(needs, [...bestEffort, ...fromGuaranteed]))
  const fromBestEffort = nearest(bestEffort, without(needs, [...fromBurstable, ...fromGuaranteed]))
  return [...fromBestEffort, ...fromBurstable, ...fromGuaranteed]
}

/** The needs that remain when these pods end. */
function without(needs: Needs, pods: readonly Pod[]): Needs {
  const left = [...needs].map(([resource, amount]): [string, bigint] => [
    resource,
    pods.reduce((rest, pod) => rest - (requestsOf(pod).get(resource) ?? 0n), amount),
  ])
  return new Map(left.filter(([, amount]) => amount > 0n))
}

/** Takes the pod that comes closest to the needs, again and again; of equal ones the smaller. */
function nearest(pods: readonly Pod[], needs: Needs): Pod[] {
  const taken: Pod[] = []
  const left = [...pods]
  for (let rest = needs; rest.size > 0; rest = without(rest, [taken.at(-1)!])) {
    const best = left.reduce<Pod | undefined>(
      (found, pod) => (found && isBetter(found, pod, rest) ? found : pod),
      undefined,
    )
    if (!best) throw new Error(noPods(rest))
    left.splice(left.indexOf(best), 1)
    taken.push(best)
  }
  return taken
}

/** True if the first pod is at least as good a choice as the second. */
function isBetter(a: Pod, b: Pod, needs: Needs): boolean {
  const difference = distance(a, needs) - distance(b, needs)
  return difference < 0 || (difference === 0 && !isSmaller(b, a))
}

/** Each need counts the same, by the square of the fraction that the pod leaves open. */
function distance(pod: Pod, needs: Needs): number {
  const requests = requestsOf(pod)
  return [...needs].reduce((sum, [resource, amount]) => {
    const open = Number(amount - (requests.get(resource) ?? 0n))
    return open > 0 ? sum + (open / Number(amount)) ** 2 : sum
  }, 0)
}

function isSmaller(a: Pod, b: Pod): boolean {
  for (const resource of ['memory', 'cpu']) {
    const [one, other] = [requestsOf(a).get(resource) ?? 0n, requestsOf(b).get(resource) ?? 0n]
    if (one !== other) return one < other
  }
  return true
}

const noPods = (needs: Needs): string => {
  const list = [...needs].map(([resource, amount]) => `(res: ${resource}, q: ${amount}), `).join('')
  return `no set of running pods found to reclaim resources: [${list}]`
}
