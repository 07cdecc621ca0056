/** Merges and compares lists of tolerations. */
import type { V1Toleration } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../../machinery/equality.ts'
import type { Wire } from '../../../../machinery/object.ts'

export type Toleration = Wire<V1Toleration>

/** Merges both lists without tolerations that another one includes. Of equal ones the first remains. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  all.forEach((one, i) => {
    if (merged.some((other) => includes(other, one))) return
    if (all.slice(i + 1).some((other) => !semanticallyEqual(one, other) && includes(other, one))) return
    merged.push(one)
  })
  return merged
}

/** Returns true if the list includes each toleration. An empty list allows everything. */
export const areAllowed = (tolerations: readonly Toleration[], list: readonly Toleration[]): boolean =>
  list.length === 0 || tolerations.every((one) => list.some((allowed) => includes(allowed, one)))

/** Returns true if `wide` tolerates all that `narrow` tolerates. */
function includes(wide: Toleration, narrow: Toleration): boolean {
  if (semanticallyEqual(wide, narrow)) return true
  const key = wide.key ?? ''
  // Exists without a key matches every taint.
  if ((narrow.key ?? '') !== key && (key !== '' || wide.operator !== 'Exists')) return false
  if (wide.effect && narrow.effect !== wide.effect) return false
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false
  }
  if (wide.operator === 'Exists') return true
  return (
    (!wide.operator || wide.operator === 'Equal') &&
    narrow.operator === 'Equal' &&
    (narrow.value ?? '') === (wide.value ?? '')
  )
}
