/** What a PodDisruptionBudget allows, worked out from its pods and from how many there should be (KEP-85). */
import type { Pod, PodDisruptionBudget } from '../../client/kinds.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import { isReady } from '../pods/phase.ts'

export type BudgetStatus = NonNullable<PodDisruptionBudget['status']>
type Condition = NonNullable<BudgetStatus['conditions']>[number]

/** How many pods there should be, and how many of them have to be healthy. */
export interface Expected {
  readonly expectedPods: number
  readonly desiredHealthy: number
}

/** How long an evicted pod may take to be deleted until it counts again. */
const deletionTimeoutMs = 2 * 60_000

/** Whether it has to be known how many pods their controllers want: for shares, and for how many may be missing. */
export const needsScale = ({ spec }: PodDisruptionBudget): boolean =>
  spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string'

/** `pods`: how many there are; `scale`: how many their controllers want. */
export function expectedOf({ spec }: PodDisruptionBudget, pods: number, scale: number): Expected {
  const { minAvailable, maxUnavailable } = spec ?? {}
  if (maxUnavailable !== undefined)
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - share(maxUnavailable, scale)) }
  if (typeof minAvailable === 'number') return { expectedPods: pods, desiredHealthy: minAvailable }
  if (minAvailable !== undefined) return { expectedPods: scale, desiredHealthy: share(minAvailable, scale) }
  return { expectedPods: 0, desiredHealthy: 0 }
}

/** Percentages are rounded up. */
function share(value: number | string, total: number): number {
  if (typeof value === 'number') return value
  const [, percent] = /^(\d+)%$/.exec(value) ?? []
  if (percent === undefined) throw new Error('invalid value for IntOrString: invalid type: string is not a percentage')
  return Math.ceil((Number(percent) * total) / 100)
}

export interface BudgetVerdict {
  readonly status: BudgetStatus
  /** Pods that were evicted, but not deleted in time. */
  readonly notDeleted: readonly Pod[]
  /** In how many ms an evicted pod counts again; undefined if there is none. */
  readonly againMs: number | undefined
}

/** `now`: milliseconds. */
export function budgetVerdict(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  expected: Expected,
  now: number,
): BudgetVerdict {
  const disrupted = new Map(Object.entries(budget.status?.disruptedPods ?? {}))
  const deadlineOf = ({ metadata }: Pod): number | undefined => {
    const since = disrupted.get(metadata.name ?? '')
    return since === undefined ? undefined : Date.parse(since) + deletionTimeoutMs
  }
  const staying = pods.filter(({ metadata }) => !metadata.deletionTimestamp)
  const evicted = staying.filter((pod) => deadlineOf(pod) !== undefined)
  const isAwaited = (pod: Pod): boolean => (deadlineOf(pod) ?? Number.NEGATIVE_INFINITY) >= now
  const awaited = evicted.filter(isAwaited)
  const currentHealthy = staying.filter((pod) => isReady(pod) && !isAwaited(pod)).length
  const { expectedPods, desiredHealthy } = expected
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0
  const observedGeneration = budget.metadata.generation
  const condition = {
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...allowedCondition(disruptionsAllowed),
  }
  return {
    status: {
      ...(observedGeneration !== undefined && { observedGeneration }),
      ...(awaited.length > 0 && {
        disruptedPods: Object.fromEntries(
          awaited.map(({ metadata: { name = '' } }) => [name, disrupted.get(name) ?? '']),
        ),
      }),
      disruptionsAllowed,
      currentHealthy,
      desiredHealthy,
      expectedPods,
      conditions: withCondition(budget.status?.conditions, condition, now),
    },
    notDeleted: evicted.filter((pod) => !isAwaited(pod)),
    againMs: awaited.length > 0 ? Math.min(...awaited.map((pod) => (deadlineOf(pod) ?? now) - now)) : undefined,
  }
}

const allowedCondition = (allowed: number) =>
  allowed > 0
    ? { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '' }
    : { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' }

/** The status when it cannot be worked out: nothing is allowed, whatever was before. */
export function failedStatus({ status }: PodDisruptionBudget, message: string, now: number): BudgetStatus {
  const { observedGeneration } = status ?? {}
  const condition = {
    ...(observedGeneration !== undefined && { observedGeneration }),
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message,
  }
  const counted = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status }
  return { ...counted, disruptionsAllowed: 0, conditions: withCondition(status?.conditions, condition, now) }
}

/** The time of a condition is when its status changed last. */
function withCondition(
  conditions: readonly Condition[] = [],
  condition: Omit<Condition, 'lastTransitionTime'>,
  now: number,
): Condition[] {
  const known = conditions.find(({ type }) => type === condition.type)
  const isSame = known?.status === condition.status
  const next = {
    ...condition,
    lastTransitionTime: isSame ? known.lastTransitionTime : `${new Date(now).toISOString().slice(0, 19)}Z`,
  }
  if (!known) return [...conditions, next]
  return conditions.map((one) => (one === known && !jsonEqual(one, next) ? next : one))
}
