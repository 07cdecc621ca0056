/**
 * The difference of two statuses of a pod as a strategic merge patch. It contains only fields that differ. Lists of
 * containers are replaced; conditions and addresses are merged by their keys, so missing ones are removed by name.
 */
import { semanticallyEqual } from '../../machinery/equality.ts'
import { isKubeletCondition } from './conditions.ts'
import type { PodCondition, PodStatus } from './pod-types.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * The part of a status that a patch may change. `all`: all fields, and conditions that differ; missing conditions are
 * retained. `own`: what belongs to the kubelet, since a newer version of the rest may be in the API. Its conditions
 * keep their order, and missing ones are deleted.
 */
export type PatchedPart = 'all' | 'own'

/** Fields that controllers write. */
const foreignFields: ReadonlySet<string> = new Set(['resourceClaimStatuses', 'extendedResourceClaimStatus'])

/** `before` is the status that the API has. Undefined if the statuses are equal. */
export function statusPatch(before: PodStatus, after: PodStatus, part: PatchedPart): Members | undefined {
  const patch: Record<string, unknown> = {}
  const [old, wanted] = [before as Members, after as Members]
  for (const name of new Set([...Object.keys(old), ...Object.keys(wanted)])) {
    if (name === 'conditions' || (part === 'own' && foreignFields.has(name))) continue
    const isEqual = semanticallyEqual(old[name], wanted[name])
    // An empty field such as `resources: {}` means that the kubelet knows that there is nothing.
    const isNew = part === 'own' && old[name] === undefined && wanted[name] !== undefined
    if (!isEqual || isNew) patch[name] = fieldPatch(old[name], wanted[name])
  }
  const conditions = (part === 'own' ? ownConditions : changedConditions)(before.conditions, after.conditions)
  if (conditions.length > 0) patch.conditions = conditions
  return Object.keys(patch).length > 0 ? patch : undefined
}

function fieldPatch(before: unknown, after: unknown): unknown {
  if (after === undefined) return null
  if (isAddresses(before) && isAddresses(after)) return addressesPatch(before, after)
  return isMap(before) && isMap(after) ? mapPatch(before, after) : after
}

const isMap = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Maps are merged by name, at each level. */
function mapPatch(before: Members, after: Members): Members {
  const changed = Object.entries(after).map(([name, value]) => {
    const old = before[name]
    return [name, isMap(old) && isMap(value) ? mapPatch(old, value) : value] as const
  })
  return { ...removed(before, after), ...Object.fromEntries(changed) }
}

/** The members that are gone, as null. */
function removed(before: Members, after: Members): Record<string, null> {
  const gone = Object.keys(before).filter((name) => after[name] === undefined && before[name] !== undefined)
  return Object.fromEntries(gone.map((name) => [name, null]))
}

type Addresses = readonly { readonly ip: string }[]

const isAddresses = (value: unknown): value is Addresses =>
  Array.isArray(value) && value.every((one) => isMap(one) && typeof one.ip === 'string')

const addressesPatch = (before: Addresses, after: Addresses): object[] => [
  ...before.filter(({ ip }) => !after.some((one) => one.ip === ip)).map(({ ip }) => ({ ip, $patch: 'delete' })),
  ...after,
]

/** None if all are equal. */
function ownConditions(before: readonly PodCondition[] = [], after: readonly PodCondition[] = []): object[] {
  const [old, wanted] = [before.filter(isKubeletCondition), after.filter(isKubeletCondition)]
  const gone = old.filter(({ type }) => !wanted.some((one) => one.type === type))
  if (gone.length === 0 && changedConditions(old, wanted).length === 0) return []
  return [...gone.map(({ type }) => ({ type, $patch: 'delete' })), ...wanted.map((one) => conditionPatch(old, one))]
}

const changedConditions = (before: readonly PodCondition[] = [], after: readonly PodCondition[] = []): object[] =>
  after.filter((one) => !before.some((last) => semanticallyEqual(last, one))).map((one) => conditionPatch(before, one))

function conditionPatch(before: readonly PodCondition[], condition: PodCondition): object {
  const last = before.find(({ type }) => type === condition.type)
  return last ? { ...removed({ ...last }, { ...condition }), ...condition } : condition
}
