/** Scores nodes by the utilization of volumes per class, with the configured shape (KEP-4049). */

import { claimClass } from '../../../../api/core/storage/binding/storage-class.ts'
import { wholeValue } from '../../../../machinery/values/quantity.ts'
import { maxNodeScore } from '../../../framework/index.ts'
import { sizeOf } from './claims.ts'
import type { PodVolumes } from './find-volumes.ts'

/** A utilization in percent, and its score from 0 to 10. */
export interface ShapePoint {
  readonly utilization: number
  readonly score: number
}

const highestShapeScore = 10

export function scoreVolumes({ bindings, provisions }: PodVolumes, shape: readonly ShapePoint[]): number {
  const classes = new Map<string, { requested: number; capacity: number }>()
  const count = (name: string, requested: string, capacity: string): void => {
    const sum = classes.get(name) ?? { requested: 0, capacity: 0 }
    classes.set(name, {
      requested: sum.requested + Number(wholeValue(requested)),
      capacity: sum.capacity + Number(wholeValue(capacity)),
    })
  }
  if (bindings.length > 0)
    for (const { claim, volume } of bindings)
      count(claimClass(claim), sizeOf(claim), volume.spec?.capacity?.storage ?? '0')
  else
    for (const { claim, capacity } of provisions)
      if (capacity?.capacity) count(claimClass(claim), sizeOf(claim), capacity.capacity)
  if (classes.size === 0) return 0
  let sum = 0
  for (const { requested, capacity } of classes.values())
    sum += scoreAt(shape, capacity === 0 ? 100 : Math.min(100, Math.trunc((requested * 100) / capacity)))
  return Math.round(sum / classes.size)
}

function scoreAt(shape: readonly ShapePoint[], utilization: number): number {
  const at = shape.findIndex((point) => utilization <= point.utilization)
  const [before, after] = [shape[at - 1], shape[at] ?? shape.at(-1)]
  if (!after) return 0
  const scaled = ({ score }: ShapePoint): number => (score * maxNodeScore) / highestShapeScore
  if (!before) return scaled(after)
  const share = (utilization - before.utilization) / (after.utilization - before.utilization)
  return Math.trunc(scaled(before) + (scaled(after) - scaled(before)) * share)
}
