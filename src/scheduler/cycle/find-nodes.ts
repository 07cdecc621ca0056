/** Finds nodes that a pod fits on: as many as are worth scoring, beginning where the last search ended. */

import type { NodeInfo } from '../framework/node-info.ts'
import type { Rejection } from '../framework/status.ts'
import type { PodCycle } from './pod-cycle.ts'
import { failureOf } from './pod-cycle.ts'

/** In clusters with fewer nodes all are searched. */
const minFeasibleNodes = 100
/** In percent. */
const minPercentage = 5

/**
 * The number of feasible nodes after which the search ends. A `percentage` of 0 adapts to the size of the cluster, from
 * 50 to 5 percent; see percentageOfNodesToScore of KubeSchedulerConfiguration.
 */
export function feasibleNodesToFind(nodes: number, percentage: number): number {
  if (nodes < minFeasibleNodes) return nodes
  const part = percentage || Math.max(minPercentage, 50 - Math.trunc(nodes / 125))
  return Math.max(minFeasibleNodes, Math.trunc((nodes * part) / 100))
}

export interface NodeSearch {
  readonly nodes: readonly NodeInfo[]
  /** The index at which the search begins. */
  readonly start: number
  /** The number of feasible nodes after which the search ends. */
  readonly limit: number
}

export interface FoundNodes {
  readonly feasible: NodeInfo[]
  readonly rejections: Map<string, Rejection>
  readonly processed: number
}

/** Throws the error of a filter. */
export function findNodes(cycle: PodCycle, search: NodeSearch): FoundNodes {
  return cycle.measured('Filter', () => searchNodes(cycle, search))
}

function searchNodes(cycle: PodCycle, { nodes, start, limit: wanted }: NodeSearch): FoundNodes {
  const feasible: NodeInfo[] = []
  const rejections = new Map<string, Rejection>()
  let processed = 0
  for (; processed < nodes.length && feasible.length < wanted; processed++) {
    const node = nodes[(start + processed) % nodes.length]!
    const rejection = cycle.filter(node)
    if (!rejection) feasible.push(node)
    else if (rejection.status.code === 'Error') throw failureOf(rejection.status)
    else rejections.set(node.name, rejection)
  }
  return { feasible, rejections, processed }
}
