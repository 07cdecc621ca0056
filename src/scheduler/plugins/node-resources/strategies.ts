/** The scoring strategies of NodeResourcesFit, by the resources that would be free. They use integers, as upstream. */
import { amountOf, maxNodeScore, type NodeInfo } from '../../framework/index.ts'
import { type RequestedResource, usedOf } from './scored-resources.ts'

/** The score of a node, from 0 to 100, for these requests. */
export type Strategy = (resources: readonly RequestedResource[], node: NodeInfo) => number

/** A point of the function from utilization (percent) to score (0 to 10). */
export interface ShapePoint {
  readonly utilization: number
  readonly score: number
}

/** Prefers emptier nodes. */
export const leastAllocated: Strategy = weighted((used, capacity) =>
  used > capacity ? 0 : Math.trunc(((capacity - used) * maxNodeScore) / capacity),
)

/** Prefers fuller nodes. Containers without requests count with defaults, so `used` may exceed the capacity. */
export const mostAllocated: Strategy = weighted((used, capacity) =>
  Math.trunc((Math.min(used, capacity) * maxNodeScore) / capacity),
)

/** Scores with the configured piecewise linear function. Resources with score 0 do not count in the average. */
export function requestedToCapacityRatio(shape: readonly ShapePoint[]): Strategy {
  const points = shape.map(({ utilization, score }) => ({ utilization, score: score * (maxNodeScore / 10) }))
  const scoreOf = (used: number, capacity: number): number =>
    onLines(points, used > capacity ? 100 : Math.trunc((used * 100) / capacity))
  return weighted((used, capacity) => scoreOf(used, capacity) || undefined, Math.round)
}

/**
 * The weighted average of the scores per resource. Resources that the node lacks, and those without a score, do not
 * count.
 */
function weighted(scoreOf: (used: number, capacity: number) => number | undefined, rounded = Math.trunc): Strategy {
  return (resources, node) => {
    let sum = 0
    let weights = 0
    for (const { name, weight, requested } of resources) {
      const capacity = amountOf(node.allocatable, name)
      if (capacity === 0) continue
      const score = scoreOf(usedOf(node, name, true) + requested, capacity)
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
