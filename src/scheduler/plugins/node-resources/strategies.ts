/**
 * How good a node is by what would be left on it: the ways to score that NodeResourcesFit knows. All of them count in
 * whole numbers, as upstream.
 */
import { amountOf, maxNodeScore, type NodeInfo } from '../../framework/index.ts'
import { type AskedResource, takenOf } from './scored-resources.ts'

/** The score of a node, from 0 to 100, for a pod that asks for this. */
export type Strategy = (resources: readonly AskedResource[], node: NodeInfo) => number

/** A point of the function from how much of a resource is used (percent) to a score (0 to 10). */
export interface ShapePoint {
  readonly utilization: number
  readonly score: number
}

/** Prefers what is emptier. */
export const leastAllocated: Strategy = weighted((taken, capacity) =>
  taken > capacity ? 0 : Math.trunc(((capacity - taken) * maxNodeScore) / capacity),
)

/** Prefers what is fuller. Pods that ask for nothing count for a little, so it may be more than there is. */
export const mostAllocated: Strategy = weighted((taken, capacity) =>
  Math.trunc((Math.min(taken, capacity) * maxNodeScore) / capacity),
)

/**
 * Prefers by a function that the configuration draws as straight lines between points. What is worth nothing does not
 * pull the others down.
 */
export function requestedToCapacityRatio(shape: readonly ShapePoint[]): Strategy {
  const points = shape.map(({ utilization, score }) => ({ utilization, score: score * (maxNodeScore / 10) }))
  const scoreOf = (taken: number, capacity: number): number =>
    onLines(points, taken > capacity ? 100 : Math.trunc((taken * 100) / capacity))
  return weighted((taken, capacity) => scoreOf(taken, capacity) || undefined, Math.round)
}

/**
 * The average of what each resource of the node is worth. A resource that the node does not have does not count, nor
 * does one without a score.
 */
function weighted(scoreOf: (taken: number, capacity: number) => number | undefined, rounded = Math.trunc): Strategy {
  return (resources, node) => {
    let sum = 0
    let weights = 0
    for (const { name, weight, asked } of resources) {
      const capacity = amountOf(node.allocatable, name)
      if (capacity === 0) continue
      const score = scoreOf(takenOf(node, name, true) + asked, capacity)
      if (score === undefined) continue
      sum += weight * score
      weights += weight
    }
    return weights === 0 ? 0 : rounded(sum / weights)
  }
}

function onLines(points: readonly ShapePoint[], utilization: number): number {
  let before: ShapePoint | undefined
  for (const point of points) {
    if (utilization <= point.utilization) {
      if (!before) return point.score
      const share =
        ((point.score - before.score) * (utilization - before.utilization)) / (point.utilization - before.utilization)
      return before.score + Math.trunc(share)
    }
    before = point
  }
  return before?.score ?? 0
}
