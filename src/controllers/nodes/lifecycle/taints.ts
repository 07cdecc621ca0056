/**
 * Taints derived from the conditions of a node:
 * kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions
 */
import type { Node } from '../../../client/kinds.ts'
import { rfc3339 } from '../../pods/times.ts'
import { readyCondition } from './health.ts'

export type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

export const notReady = 'node.kubernetes.io/not-ready'
export const unreachable = 'node.kubernetes.io/unreachable'
const unschedulable = 'node.kubernetes.io/unschedulable'

/** The key of the taint, by type and status of a condition. */
const keys: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReady, Unknown: unreachable },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
}
const ownKeys: ReadonlySet<string> = new Set([
  unschedulable,
  ...Object.values(keys).flatMap((byStatus) => Object.values(byStatus)),
])

const isSame = (one: Taint, other: Taint): boolean => one.key === other.key && one.effect === other.effect

/** Removes taints and appends others with the current time. Undefined if nothing changes. */
export function replaceTaints(
  taints: readonly Taint[],
  add: readonly Taint[],
  remove: readonly Taint[],
  now: number,
): Taint[] | undefined {
  const added = add.filter((taint) => !taints.some((existing) => isSame(existing, taint)))
  const remaining = taints.filter((existing) => !remove.some((taint) => isSame(existing, taint)))
  if (added.length === 0 && remaining.length === taints.length) return undefined
  return [...remaining, ...added.map((taint) => ({ ...taint, timeAdded: rfc3339(now) }))]
}

/** Returns the taints with NoSchedule taints matching the node's conditions; undefined if they match already. */
export function withConditionTaints({ spec, status }: Node, now: number): Taint[] | undefined {
  const desired: string[] = []
  for (const { type, status: value } of status?.conditions ?? []) {
    const key = keys[type]?.[value]
    if (key) desired.push(key)
  }
  if (spec?.unschedulable) desired.push(unschedulable)
  const taints = spec?.taints ?? []
  const stale = taints.filter(
    ({ key, effect }) => effect === 'NoSchedule' && ownKeys.has(key) && !desired.includes(key),
  )
  return replaceTaints(
    taints,
    desired.map((key) => ({ key, effect: 'NoSchedule' })),
    stale,
    now,
  )
}

const noExecute = (key: string): Taint => ({ key, effect: 'NoExecute' })
const has = ({ spec }: Node, taint: Taint): boolean =>
  spec?.taints?.some((existing) => isSame(existing, taint)) ?? false

/** Returns the taints without the NoExecute taints of unready nodes; undefined if the node has none. */
export const withoutEviction = (node: Node): Taint[] | undefined =>
  replaceTaints(node.spec?.taints ?? [], [], [noExecute(notReady), noExecute(unreachable)], 0)

/** Returns the taints with the NoExecute taint of an unready node; undefined if it is ready, unreported or tainted. */
export function withEviction(node: Node, now: number): Taint[] | undefined {
  const ready = readyCondition(node)
  if (!ready || ready.status === 'True') return undefined
  const [key, other] = ready.status === 'False' ? [notReady, unreachable] : [unreachable, notReady]
  return replaceTaints(node.spec?.taints ?? [], [noExecute(key)], [noExecute(other)], now)
}

/** Returns true if the node has a NoExecute taint of an unready node: then that may change without the rate limit. */
export const isEvicting = (node: Node): boolean => has(node, noExecute(notReady)) || has(node, noExecute(unreachable))
