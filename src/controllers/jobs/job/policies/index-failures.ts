/**
 * Back-off per index (KEP-3850): each index has its own limit of failures. An annotation of its newest pod holds their
 * number, so the last failed pod of an index is retained until its replacement exists, which inherits the number.
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

/** The permanently failed indexes: those in the status and those that fail now. */
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
 * The last failed pod of each unfinished index without an active pod: these are retained until they are replaced.
 * `pods` are uncounted.
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

/** The indexes that may have a pod now or, if none may, the time in ms until the first one may. */
export function dueIndexes(
  indexes: readonly number[],
  replaced: ReadonlyMap<number, Pod>,
  now: number,
): { indexes: number[]; requeueAfterMs: number } {
  const remaining = (index: number): number => {
    const pod = replaced.get(index)
    return pod ? remainingMs({ failures: failuresBefore(pod) + 1, lastFailure: finishedAt(pod) }, now) : 0
  }
  const due = indexes.filter((index) => remaining(index) === 0)
  return {
    indexes: due,
    requeueAfterMs: due.length > 0 || indexes.length === 0 ? 0 : Math.min(...indexes.map(remaining)),
  }
}

/** The annotations of a replacement or of the first pod of an index. */
export function failureAnnotations(job: Job, replaced: Pod | undefined): Record<string, string> {
  if (!replaced) return { [failureCountAnnotation]: '0' }
  const counts = !hasFailed(replaced, job) || failureVerdict(job, replaced).counts
  const ignored = count(replaced, ignoredCountAnnotation) + (counts ? 0 : 1)
  return {
    [failureCountAnnotation]: `${count(replaced, failureCountAnnotation) + (counts ? 1 : 0)}`,
    ...(ignored > 0 && { [ignoredCountAnnotation]: `${ignored}` }),
  }
}
