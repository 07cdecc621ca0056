/** Which nodes a pod fits on: as many of them as are worth comparing, beginning where the last search ended. */

import type { NodeInfo } from '../framework/node-info.ts'
import type { Refusal } from '../framework/status.ts'
import type { PodCycle } from './pod-cycle.ts'
import { failureOf } from './pod-cycle.ts'

/** With so few nodes all are looked at. */
const fewestNodes = 100
/** Percent. */
const smallestPart = 5

/**
 * How many nodes that fit are enough. `percentage` 0 takes a part that shrinks with the size of the cluster, from 50 to
 * 5 percent; see percentageOfNodesToScore of KubeSchedulerConfiguration.
 */
export function enoughNodes(nodes: number, percentage: number): number {
  if (nodes < fewestNodes) return nodes
  const part = percentage || Math.max(smallestPart, 50 - Math.trunc(nodes / 125))
  return Math.max(fewestNodes, Math.trunc((nodes * part) / 100))
}

export interface NodeSearch {
  readonly nodes: readonly NodeInfo[]
  /** Where to begin; gives where the next one begins. */
  readonly start: number
  /** So many are enough. */
  readonly wanted: number
}

export interface FoundNodes {
  readonly feasible: NodeInfo[]
  readonly refusals: Map<string, Refusal>
  readonly processed: number
}

/** Throws an Error where a filter cannot tell. */
export function findNodes(cycle: PodCycle, search: NodeSearch): FoundNodes {
  return cycle.measured('Filter', () => searched(cycle, search))
}

function searched(cycle: PodCycle, { nodes, start, wanted }: NodeSearch): FoundNodes {
  const feasible: NodeInfo[] = []
  const refusals = new Map<string, Refusal>()
  let processed = 0
  for (; processed < nodes.length && feasible.length < wanted; processed++) {
    const node = nodes[(start + processed) % nodes.length]!
    const refusal = cycle.filter(node)
    if (!refusal) feasible.push(node)
    else if (refusal.status.code === 'Error') throw failureOf(refusal.status)
    else refusals.set(node.name, refusal)
  }
  return { feasible, refusals, processed }
}
