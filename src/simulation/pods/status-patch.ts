/**
 * The difference of two statuses as a strategic merge patch: it contains only our own fields, and retains conditions of
 * others.
 */
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { PodCondition, PodStatus } from './lifecycle/pod-types.ts'

type Fields = Readonly<Record<string, unknown>>

/** Undefined if the statuses are equal. */
export function statusPatch(before: PodStatus, after: PodStatus): Fields | undefined {
  const patch: Record<string, unknown> = {}
  const [old, wanted] = [before as Fields, after as Fields]
  for (const name of new Set([...Object.keys(old), ...Object.keys(wanted)])) {
    if (name === 'conditions' || old[name] === wanted[name]) continue
    if (wanted[name] === undefined) patch[name] = null
    else if (!semanticallyEqual(old[name], wanted[name])) patch[name] = wanted[name]
  }
  const conditions = changed(before.conditions ?? [], after.conditions ?? [])
  if (conditions.length > 0) patch.conditions = conditions
  return Object.keys(patch).length > 0 ? patch : undefined
}

const changed = (before: readonly PodCondition[], after: readonly PodCondition[]): Fields[] =>
  after.flatMap((condition) => {
    const last = before.find(({ type }) => type === condition.type)
    if (!last) return { ...condition }
    if (last === condition || semanticallyEqual(last, condition)) return []
    const gone = Object.fromEntries(
      Object.keys(last)
        .filter((name) => (condition as Fields)[name] === undefined)
        .map((name) => [name, null]),
    )
    return { ...gone, ...condition }
  })
