/** The order in which pods end before the node shuts down: by priority, the lowest first. Pure functions. */
import { systemPriorityClasses } from '../../api/scheduling/system-priority-classes.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { type Pod, specOf } from '../pod-types.ts'

/** Pods of this priority, up to that of the next group, have so many seconds to end. */
export interface ShutdownPeriod {
  readonly priority: number
  readonly seconds: number
}

export interface ShutdownGroup extends ShutdownPeriod {
  readonly pods: readonly Pod[]
}

/** The fields of the configuration that are about shutdowns. */
export interface ShutdownSettings {
  readonly shutdownGracePeriod: string
  readonly shutdownGracePeriodCriticalPods: string
  readonly shutdownGracePeriodByPodPriority?: readonly {
    readonly priority: number
    readonly shutdownGracePeriodSeconds: number
  }[]
}

const criticalPriority = Math.min(...systemPriorityClasses.map(({ value }) => value))

/** Returns the periods in the order of their priorities; none if shutdowns do not wait for pods. */
export function shutdownPeriods(settings: ShutdownSettings): ShutdownPeriod[] {
  const byPriority = settings.shutdownGracePeriodByPodPriority ?? []
  if (byPriority.length > 0)
    return byPriority
      .map(({ priority, shutdownGracePeriodSeconds: seconds }) => ({ priority, seconds }))
      .sort((a, b) => a.priority - b.priority)
  const total = parseDurationMs(settings.shutdownGracePeriod) ?? 0
  const critical = parseDurationMs(settings.shutdownGracePeriodCriticalPods) ?? 0
  if (total === 0 || critical > total) return []
  return [
    { priority: 0, seconds: Math.floor((total - critical) / 1000) },
    { priority: criticalPriority, seconds: Math.floor(critical / 1000) },
  ]
}

/** Pods below the lowest priority are in the first group. Groups without pods are omitted. */
export function shutdownGroups(periods: readonly ShutdownPeriod[], pods: readonly Pod[]): ShutdownGroup[] {
  const indexOf = (pod: Pod): number =>
    Math.max(
      0,
      periods.findLastIndex(({ priority }) => priority <= (specOf(pod).priority ?? 0)),
    )
  const groups = Map.groupBy(pods, indexOf)
  return periods.flatMap((period, i) => {
    const members = groups.get(i)
    return members ? [{ ...period, pods: members }] : []
  })
}

/** The time in seconds that a pod of a group has: that of the group, or less if its own is shorter. */
export const graceSecondsOf = (pod: Pod, { seconds }: ShutdownPeriod): number =>
  Math.min(specOf(pod).terminationGracePeriodSeconds ?? seconds, seconds)
