/** Limits the recommendation of an autoscaler: by recent recommendations, policies, and the bounds of its spec. */
import type { HorizontalPodAutoscaler } from '../../../client/kinds.ts'

type Behavior = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['behavior']>
type ScalingRules = NonNullable<Behavior['scaleUp']>

interface Recommendation {
  readonly replicas: number
  /** In ms since the epoch. */
  readonly at: number
}

/** A change of replicas; negative for a scale-down. */
interface Change {
  readonly by: number
  readonly at: number
}

/** Past recommendations and changes of an autoscaler. */
export interface History {
  readonly recommendations: readonly Recommendation[]
  readonly changes: readonly Change[]
}

export interface Limits {
  readonly current: number
  readonly min: number
  readonly max: number
  readonly behavior: Behavior | undefined
  /** Default stabilization window of scale-downs, in ms. */
  readonly downscaleMs: number
  /** In ms since the epoch. */
  readonly now: number
}

interface Reason {
  readonly reason: string
  readonly message: string
}

export interface LimitResult {
  readonly replicas: number
  /** For the condition AbleToScale. */
  readonly able: Reason
  /** For the condition ScalingLimited. */
  readonly limited: Reason & { readonly isLimited: boolean }
  readonly history: History
}

const ready: Reason = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
const stabilizedUp: Reason = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
}
const stabilizedDown: Reason = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
}
const within: Reason = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
const tooMany: Reason = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
}
const tooFew: Reason = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
}
const tooFast: Reason = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
}
const tooFastDown: Reason = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
}

/** The longest period of a policy that the API allows, in ms. */
const maxPeriodMs = 1_800_000

/** Applies the limits to a recommendation. */
export function limit(recommended: number, history: History, limits: Limits): LimitResult {
  const { now, behavior } = limits
  const windows = { up: 0, down: limits.downscaleMs, ...(behavior && windowsOf(behavior, limits.downscaleMs)) }
  const stabilized = stabilize(recommended, history.recommendations, windows, limits)
  const able =
    stabilized === recommended ? ready : behavior && recommended >= limits.current ? stabilizedUp : stabilizedDown
  const [replicas, reason] = behavior
    ? byPolicies(stabilized, behavior, history.changes, limits)
    : byFactor(stabilized, limits)
  const since = now - Math.max(windows.up, windows.down)
  return {
    replicas,
    able,
    limited: { ...reason, isLimited: replicas !== stabilized },
    history: {
      recommendations: [...history.recommendations.filter(({ at }) => at > since), { replicas: recommended, at: now }],
      changes: history.changes.filter(({ at }) => at > now - maxPeriodMs),
    },
  }
}

/** Returns the history with a change of replicas. */
export const withChange = (history: History, by: number, now: number): History => ({
  ...history,
  changes: [...history.changes, { by, at: now }],
})

const windowsOf = (
  { scaleUp, scaleDown }: Behavior,
  downscaleMs: number,
): { readonly up: number; readonly down: number } => ({
  up: (scaleUp?.stabilizationWindowSeconds ?? 0) * 1000,
  down: scaleDown?.stabilizationWindowSeconds === undefined ? downscaleMs : scaleDown.stabilizationWindowSeconds * 1000,
})

/** Scales up at most to the lowest and down at least to the highest recent recommendation. */
function stabilize(
  recommended: number,
  recommendations: readonly Recommendation[],
  windows: { readonly up: number; readonly down: number },
  { behavior, current, now }: Limits,
): number {
  const recent = (windowMs: number): number[] =>
    recommendations.filter(({ at }) => at > now - windowMs).map(({ replicas }) => replicas)
  const highest = Math.max(recommended, ...recent(windows.down))
  if (!behavior) return highest
  const lowest = Math.min(recommended, ...recent(windows.up))
  return Math.min(Math.max(current, lowest), highest)
}

/** Without behavior, scales up at most to double the size or to 4. */
function byFactor(replicas: number, { current, min, max }: Limits): readonly [number, Reason] {
  const fastest = Math.max(2 * current, 4)
  if (replicas < min) return [min, tooFew]
  if (replicas > Math.min(max, fastest)) return max > fastest ? [fastest, tooFast] : [max, tooMany]
  return [replicas, within]
}

function byPolicies(
  replicas: number,
  { scaleUp, scaleDown }: Behavior,
  changes: readonly Change[],
  limits: Limits,
): readonly [number, Reason] {
  const { current, min, max } = limits
  if (replicas > current) {
    const fastest = Math.max(current, policyBound(scaleUp ?? {}, 1, changes, limits))
    if (replicas > Math.min(max, fastest)) return max > fastest ? [fastest, tooFast] : [max, tooMany]
  } else if (replicas < current) {
    const fastest = Math.min(current, policyBound(scaleDown ?? {}, -1, changes, limits))
    if (replicas < Math.max(min, fastest)) return min < fastest ? [fastest, tooFastDown] : [min, tooFew]
  }
  return [replicas, within]
}

/** The bound by the policies of a direction (1 up, -1 down), relative to the replicas at the start of each period. */
function policyBound(
  { selectPolicy, policies }: ScalingRules,
  direction: 1 | -1,
  changes: readonly Change[],
  { current, now }: Limits,
): number {
  if (selectPolicy === 'Disabled') return current
  const bounds = (policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = changes
      .filter(({ at }) => at > now - periodSeconds * 1000)
      .reduce((replicas, { by }) => replicas - by, current)
    if (type === 'Pods') return start + direction * value
    const scaled = start * (1 + (direction * value) / 100)
    // Rounded up, so that a small target can grow at all.
    return direction > 0 ? Math.ceil(scaled) : Math.trunc(scaled)
  })
  const isSmallest = (selectPolicy === 'Min') === direction > 0
  return isSmallest ? Math.min(...bounds) : Math.max(...bounds)
}
