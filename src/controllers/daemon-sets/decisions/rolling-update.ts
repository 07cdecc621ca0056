/** Decides which pods of a DaemonSet an update deletes, or which nodes get a surge pod (KEP-1591). */
import type { Pod } from '../../../client/kinds.ts'
import { isUpdated } from '../daemon-pod.ts'
import type { PodChanges } from './manage.ts'
import { type DaemonSituation, isDeleted, isPodAvailable, maxSurge, maxUnavailable, nameOf } from './situation.ts'

/** The pods of a node, at most one of each; undefined if more exist, which must be deleted first. */
type OnNode = { readonly name: string; readonly updated: Pod | undefined; readonly old: Pod | undefined } | undefined

export function rollingUpdate(situation: DaemonSituation): PodChanges {
  const { set, nodes, pods, placement } = situation
  const eligible = new Set(nodes.filter((node) => placement(node).runs).map(nameOf))
  const all = [...new Set([...eligible, ...pods.keys()])].map((name) => onNode(name, situation))
  const surge = maxSurge(set, eligible.size)
  if (surge > 0) return surging(all, eligible, surge, situation)
  return { create: [], remove: replaceable(all, maxUnavailable(set, eligible.size), situation) }
}

function onNode(name: string, { pods, set, hash }: DaemonSituation): OnNode {
  const present = (pods.get(name) ?? []).filter((pod) => !isDeleted(pod))
  const updated = present.filter((pod) => isUpdated(pod, set, hash))
  const old = present.filter((pod) => !isUpdated(pod, set, hash))
  return updated.length > 1 || old.length > 1 ? undefined : { name, updated: updated[0], old: old[0] }
}

/** Returns the unavailable old pods and as many available ones as may become unavailable. */
function replaceable(all: readonly OnNode[], limit: number, situation: DaemonSituation): Pod[] {
  const unavailable: Pod[] = []
  const available: Pod[] = []
  let missing = 0
  for (const on of all) {
    if (on?.old && !on.updated) (isPodAvailable(on.old, situation) ? available : unavailable).push(on.old)
    // Other changes on this node come first.
    else if (!on?.updated || on.old || !isPodAvailable(on.updated, situation)) missing++
  }
  return [...unavailable, ...available.slice(0, Math.max(0, limit - missing - unavailable.length))]
}

/**
 * Creates updated pods beside unavailable old ones and beside as many others as allowed; an old pod is deleted when the
 * updated one is available. Ineligible nodes get none: an available old pod there is deleted when enough others serve.
 */
function surging(
  all: readonly OnNode[],
  eligible: ReadonlySet<string>,
  limit: number,
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
    else if (on.old && on.updated) {
      if (isServing(on.updated)) remove.push(on.old)
      else surged++
    } else if (on.old && eligible.has(on.name)) (isServing(on.old) ? candidates : needed).push(on.name)
    else if (on.old) (isServing(on.old) ? astray : remove).push(on.old)
  }
  const serving = all.filter((on) => isServing(on?.old ?? on?.updated)).length
  return {
    create: [...needed, ...candidates.slice(0, Math.max(0, limit - surged))],
    remove: [...remove, ...astray.slice(0, Math.max(0, serving - eligible.size))],
  }
}
