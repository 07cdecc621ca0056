/**
 * Decides which pods of a DaemonSet make room for the newest revision, or which nodes get one of it beside the old
 * (KEP-1591).
 */
import type { Pod } from '../../../client/kinds.ts'
import { isUpdated } from '../daemon-pod.ts'
import type { PodChanges } from './manage.ts'
import { type DaemonSituation, isDeleted, isPodAvailable, maxSurge, maxUnavailable, nameOf } from './situation.ts'

/** What is on a node: at most one pod of each; undefined where there are more, which have to go first. */
type OnNode = { readonly name: string; readonly fresh: Pod | undefined; readonly old: Pod | undefined } | undefined

export function rollingUpdate(situation: DaemonSituation): PodChanges {
  const { set, nodes, pods, placement } = situation
  const wanted = new Set(nodes.filter((node) => placement(node).runs).map(nameOf))
  const all = [...new Set([...wanted, ...pods.keys()])].map((name) => onNode(name, situation))
  const surge = maxSurge(set, wanted.size)
  if (surge > 0) return surging(all, wanted, surge, situation)
  return { create: [], remove: replaceable(all, maxUnavailable(set, wanted.size), situation) }
}

function onNode(name: string, { pods, set, hash }: DaemonSituation): OnNode {
  const present = (pods.get(name) ?? []).filter((pod) => !isDeleted(pod))
  const fresh = present.filter((pod) => isUpdated(pod, set, hash))
  const old = present.filter((pod) => !isUpdated(pod, set, hash))
  return fresh.length > 1 || old.length > 1 ? undefined : { name, fresh: fresh[0], old: old[0] }
}

/** Old pods that are of no use, and as many of the others as may be missed. */
function replaceable(all: readonly OnNode[], most: number, situation: DaemonSituation): Pod[] {
  const useless: Pod[] = []
  const useful: Pod[] = []
  let missing = 0
  for (const on of all) {
    if (on?.old && !on.fresh) (isPodAvailable(on.old, situation) ? useful : useless).push(on.old)
    // Whatever else is to be done there comes first.
    else if (!on?.fresh || on.old || !isPodAvailable(on.fresh, situation)) missing++
  }
  return [...useless, ...useful.slice(0, Math.max(0, most - missing - useless.length))]
}

/**
 * A new pod where the old one is of no use, and beside as many others as allowed; the old one goes when the new one is
 * available. Nodes that the set is not for any more get none: an old pod that serves there goes when others have taken
 * over.
 */
function surging(
  all: readonly OnNode[],
  wanted: ReadonlySet<string>,
  most: number,
  situation: DaemonSituation,
): PodChanges {
  const isServing = (pod: Pod | undefined): boolean => pod !== undefined && isPodAvailable(pod, situation)
  const needed: string[] = []
  const candidates: string[] = []
  const remove: Pod[] = []
  const astray: Pod[] = []
  let surged = 0
  for (const on of all) {
    if (!on) surged++
    else if (on.old && on.fresh) {
      if (isServing(on.fresh)) remove.push(on.old)
      else surged++
    } else if (on.old && wanted.has(on.name)) (isServing(on.old) ? candidates : needed).push(on.name)
    else if (on.old) (isServing(on.old) ? astray : remove).push(on.old)
  }
  const serving = all.filter((on) => isServing(on?.old ?? on?.fresh)).length
  return {
    create: [...needed, ...candidates.slice(0, Math.max(0, most - surged))],
    remove: [...remove, ...astray.slice(0, Math.max(0, serving - wanted.size))],
  }
}
