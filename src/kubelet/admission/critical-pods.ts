/** Critical pods, which the node admits at the expense of others. */
import { systemPriorityClasses } from '../../api/scheduling/system-priority-classes.ts'
import { type Pod, specOf } from '../pod-types.ts'
import { isMirror, isStatic } from '../sources/static-pods/annotations.ts'

const criticalPriority = Math.min(...systemPriorityClasses.map(({ value }) => value))

/** True for static pods, and for pods of the system's priority classes. */
export const isCritical = (pod: Pod): boolean =>
  isStatic(pod) || isMirror(pod) || (specOf(pod).priority ?? 0) >= criticalPriority

/** True if one pod may be ended to admit another. */
export function isPreemptable(pod: Pod, by: Pod): boolean {
  if (isCritical(by) && !isCritical(pod)) return true
  const [priority, other] = [specOf(pod).priority, specOf(by).priority]
  return priority !== undefined && other !== undefined && other > priority
}
