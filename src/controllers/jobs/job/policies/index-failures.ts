/**
 * Back-off by index (KEP-3850): each index has a limit of failures of its own. How often it has failed stands in an
 * annotation of its newest pod; so the last failed pod of an index stays until its successor is there, which takes the
 * number over.
 */
import type { Job, Pod } from '../../../../client/kinds.ts'
import { hasIndex, type Indexes, parseIndexes, union, withIndexes } from '../indexes.ts'
import { completionIndexOf, finishedAt, hasFailed, isTracked } from '../pods.ts'
import { remainingMs } from './back-off.ts'
import { failureVerdict } from './failure-policy.ts'

const failureCountAnnotation = 'batch.kubernetes.io/job-index-failure-count'
const ignoredCountAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count'

export const hasLimitPerIndex = ({ spec }: Job): boolean =>
  spec?.completionMode === 'Indexed' && spec.backoffLimitPerIndex !== undefined

const count = ({ metadata }: Pod, annotation: string): number => {
  const value = Number(metadata.annotations?.[annotation])
  return Number.isInteger(value) && value >= 0 ? value : 0
}
const failuresBefore = (pod: Pod): number => count(pod, failureCountAnnotation) + count(pod, ignoredCountAnnotation)

/** The indexes that have failed for good: those of the status, and those whose pods say so now. */
export function failedIndexes(job: Job, pods: readonly Pod[]): Indexes {
  const completions = job.spec?.completions ?? 0
  const failed = pods.filter((pod) => isTracked(pod) && failsItsIndex(job, pod)).map(completionIndexOf)
  const valid = failed.filter((index) => index !== undefined && index < completions) as number[]
  return withIndexes(parseIndexes(job.status?.failedIndexes, completions), valid)
}

function failsItsIndex(job: Job, pod: Pod): boolean {
  if (!hasFailed(pod, job)) return false
  const { action, counts } = failureVerdict(job, pod)
  return (
    action === 'FailIndex' || (counts && count(pod, failureCountAnnotation) >= (job.spec?.backoffLimitPerIndex ?? 0))
  )
}

/**
 * The last failed pod of each index that goes on but has no running pod: these stay until they are replaced. `pods` are
 * not counted yet.
 */
export function podsToReplace(
  job: Job,
  pods: readonly Pod[],
  done: { succeeded: Indexes; failed: Indexes; active: Indexes },
): Map<number, Pod> {
  const settled = union(union(done.succeeded, done.failed), done.active)
  const last = new Map<number, Pod>()
  for (const pod of pods) {
    const index = completionIndexOf(pod)
    if (
      index === undefined ||
      index >= (job.spec?.completions ?? 0) ||
      !hasFailed(pod, job) ||
      hasIndex(settled, index)
    )
      continue
    const other = last.get(index)
    if (!other || (failuresBefore(other) <= failuresBefore(pod) && finishedAt(other) <= finishedAt(pod)))
      last.set(index, pod)
  }
  return last
}

/** Which of the indexes may have a pod now, and in how many ms the first of them may where none may now. */
export function dueIndexes(
  indexes: readonly number[],
  replaced: ReadonlyMap<number, Pod>,
  now: number,
): { indexes: number[]; againMs: number } {
  const remaining = (index: number): number => {
    const pod = replaced.get(index)
    return pod ? remainingMs({ failures: failuresBefore(pod) + 1, lastFailure: finishedAt(pod) }, now) : 0
  }
  const due = indexes.filter((index) => remaining(index) === 0)
  return { indexes: due, againMs: due.length > 0 || indexes.length === 0 ? 0 : Math.min(...indexes.map(remaining)) }
}

/** The annotations of the pod that replaces another, or is the first of its index. */
export function failureAnnotations(job: Job, replaced: Pod | undefined): Record<string, string> {
  if (!replaced) return { [failureCountAnnotation]: '0' }
  const counts = !hasFailed(replaced, job) || failureVerdict(job, replaced).counts
  const ignored = count(replaced, ignoredCountAnnotation) + (counts ? 0 : 1)
  return {
    [failureCountAnnotation]: `${count(replaced, failureCountAnnotation) + (counts ? 1 : 0)}`,
    ...(ignored > 0 && { [ignoredCountAnnotation]: `${ignored}` }),
  }
}
