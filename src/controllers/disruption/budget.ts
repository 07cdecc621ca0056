/** Computes the status of a PodDisruptionBudget from its pods and their desired number (KEP-85). */
import type { Pod, PodDisruptionBudget } from '../../client/kinds.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import { isReady } from '../pods/phase.ts'

export type BudgetStatus = NonNullable<PodDisruptionBudget['status']>
type Condition = NonNullable<BudgetStatus['conditions']>[number]

/** The expected number of pods, and how many of them must be healthy. */
export interface Expected {
  readonly expectedPods: number
  readonly desiredHealthy: number
}

/** Time after which an evicted but not deleted pod counts again, in ms. */
const deletionTimeoutMs = 2 * 60_000

/** Returns true if the desired replicas of the pods' controllers are needed: for percentages and maxUnavailable. */
export const needsScale = ({ spec }: PodDisruptionBudget): boolean =>
  spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string'

/** `pods`: number of matching pods; `scale`: desired replicas of their controllers. */
export function expectedOf({ spec }: PodDisruptionBudget, pods: number, scale: number): Expected {
  const { minAvailable, maxUnavailable } = spec ?? {}
  if (maxUnavailable !== undefined)
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - resolvePercent(maxUnavailable, scale)) }
  if (typeof minAvailable === 'number') return { expectedPods: pods, desiredHealthy: minAvailable }
  if (minAvailable !== undefined) return { expectedPods: scale, desiredHealthy: resolvePercent(minAvailable, scale) }
  return { expectedPods: 0, desiredHealthy: 0 }
}

/** Percentages are rounded up. */
function resolvePercent(value: number | string, total: number): number {
  if (typeof value === 'number') return value
  const [, percent] = /^(\d+)%$/.exec(value) ?? []
  if (percent === undefined) throw new Error('invalid value for IntOrString: invalid type: string is not a percentage')
  return Math.ceil((Number(percent) * total) / 100)
}

export interface BudgetVerdict {
  readonly status: BudgetStatus
  /** Pods that were evicted but not deleted in time. */
  readonly notDeleted: readonly Pod[]
  /** Time in ms until an evicted pod counts again; undefined if none is pending. */
  readonly requeueAfterMs: number | undefined
}

/** `now` is in ms. */
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
  const remaining = pods.filter(({ metadata }) => !metadata.deletionTimestamp)
  const evicted = remaining.filter((pod) => deadlineOf(pod) !== undefined)
  const isPending = (pod: Pod): boolean => (deadlineOf(pod) ?? Number.NEGATIVE_INFINITY) >= now
  const pending = evicted.filter(isPending)
  const currentHealthy = remaining.filter((pod) => isReady(pod) && !isPending(pod)).length
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
      ...(pending.length > 0 && {
        disruptedPods: Object.fromEntries(
          pending.map(({ metadata: { name = '' } }) => [name, disrupted.get(name) ?? '']),
        ),
      }),
      disruptionsAllowed,
      currentHealthy,
      desiredHealthy,
      expectedPods,
      conditions: withCondition(budget.status?.conditions, condition, now),
    },
    notDeleted: evicted.filter((pod) => !isPending(pod)),
    requeueAfterMs: pending.length > 0 ? Math.min(...pending.map((pod) => (deadlineOf(pod) ?? now) - now)) : undefined,
  }
}

const allowedCondition = (allowed: number) =>
  allowed > 0
    ? { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '' }
    : { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' }

/** The status after an error: no disruption is allowed. */
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

/** Adds or updates a condition; its transition time changes only with its status. */
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
