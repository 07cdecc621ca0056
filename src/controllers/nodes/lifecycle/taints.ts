/**
 * Taints that follow from the conditions of a node:
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

/** Takes some taints away and puts others last, each with the time. Undefined if that changes nothing. */
export function swapped(
  taints: readonly Taint[],
  add: readonly Taint[],
  remove: readonly Taint[],
  now: number,
): Taint[] | undefined {
  const added = add.filter((taint) => !taints.some((present) => isSame(present, taint)))
  const kept = taints.filter((present) => !remove.some((taint) => isSame(present, taint)))
  if (added.length === 0 && kept.length === taints.length) return undefined
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: rfc3339(now) }))]
}

/**
 * The taints that a node should have where those that keep new pods away are not those of its conditions; undefined
 * where they are.
 */
export function withConditionTaints({ spec, status }: Node, now: number): Taint[] | undefined {
  const wanted: string[] = []
  for (const { type, status: value } of status?.conditions ?? []) {
    const key = keys[type]?.[value]
    if (key) wanted.push(key)
  }
  if (spec?.unschedulable) wanted.push(unschedulable)
  const taints = spec?.taints ?? []
  const stale = taints.filter(({ key, effect }) => effect === 'NoSchedule' && ownKeys.has(key) && !wanted.includes(key))
  return swapped(
    taints,
    wanted.map((key) => ({ key, effect: 'NoSchedule' })),
    stale,
    now,
  )
}

const noExecute = (key: string): Taint => ({ key, effect: 'NoExecute' })
const has = ({ spec }: Node, taint: Taint): boolean => spec?.taints?.some((present) => isSame(present, taint)) ?? false

/** The taints of a node without those that drive pods away because it is not ready; undefined if it has none. */
export const withoutEviction = (node: Node): Taint[] | undefined =>
  swapped(node.spec?.taints ?? [], [], [noExecute(notReady), noExecute(unreachable)], 0)

/**
 * The taints of a node that is not ready, with the one that drives pods away; undefined if it is ready, does not say,
 * or has it.
 */
export function withEviction(node: Node, now: number): Taint[] | undefined {
  const ready = readyCondition(node)
  if (!ready || ready.status === 'True') return undefined
  const [key, other] = ready.status === 'False' ? [notReady, unreachable] : [unreachable, notReady]
  return swapped(node.spec?.taints ?? [], [noExecute(key)], [noExecute(other)], now)
}

/**
 * Whether pods are driven away already: then the taint changes with the condition at once, as nobody is driven away by
 * that.
 */
export const isEvicting = (node: Node): boolean => has(node, noExecute(notReady)) || has(node, noExecute(unreachable))
