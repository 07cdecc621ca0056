/** The input of a DaemonSet's decisions. */
import type { DaemonSet, Node, Pod } from '../../../client/kinds.ts'
import { countOf } from '../../pods/percent.ts'
import { isAvailable } from '../../pods/phase.ts'
import type { Placement } from '../nodes/placement.ts'

export interface DaemonSituation {
  readonly set: DaemonSet
  readonly nodes: readonly Node[]
  readonly placement: (node: Node) => Placement
  /** Pods of the set by target node. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>
  /** The hash of the newest revision. */
  readonly hash: string
  /** In ms since the epoch. */
  readonly now: number
}

export const nameOf = ({ metadata }: Node | Pod): string => metadata.name ?? ''

export const isDeleted = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

export const isPodAvailable = (pod: Pod, { set, now }: DaemonSituation): boolean =>
  isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)

/** The number of `nodes` that may have an additional pod during an update. */
export const maxSurge = (set: DaemonSet, nodes: number): number => rollingCount(set, 'maxSurge', nodes)

/** The number of `nodes` that may lack an available pod during an update. */
export function maxUnavailable(set: DaemonSet, nodes: number): number {
  const count = rollingCount(set, 'maxUnavailable', nodes)
  // If both are 0, an update could not progress.
  return count === 0 && nodes > 0 && maxSurge(set, nodes) === 0 ? 1 : count
}

function rollingCount({ spec }: DaemonSet, field: 'maxSurge' | 'maxUnavailable', nodes: number): number {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {}
  return type === 'RollingUpdate' ? (countOf(rollingUpdate?.[field], nodes, 'up') ?? 0) : 0
}

export const allowsSurge = (set: DaemonSet): boolean => maxSurge(set, 1) > 0

const createdAt = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? '') || 0

/** Bound pods first, then oldest first. */
export const bySeniority = (a: Pod, b: Pod): number =>
  Number(Boolean(b.spec?.nodeName)) - Number(Boolean(a.spec?.nodeName)) ||
  createdAt(a) - createdAt(b) ||
  (nameOf(a) < nameOf(b) ? -1 : 1)
