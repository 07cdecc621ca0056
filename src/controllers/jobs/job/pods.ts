/** What a Job reads off its pods: which index they stand for, whether they run, how they ended and when. */
import type { Job, Pod } from '../../../client/kinds.ts'

/** Keeps a pod until the Job's status has it counted (KEP-2307). */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
export const completionIndexAnnotation = 'batch.kubernetes.io/job-completion-index'

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(trackingFinalizer) ?? false

export const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === 'Indexed'

/** Undefined where the annotation is missing or no index. */
export function completionIndexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[completionIndexAnnotation]
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

export const hasSucceeded = ({ status }: Pod): boolean => status?.phase === 'Succeeded'

/**
 * Whether a pod is replaced only when it has failed, and not as soon as it is deleted (KEP-3939). A failure policy has
 * to see how it ended.
 */
export const replacesOnlyFailed = ({ spec }: Job): boolean =>
  spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined

/**
 * A deleted pod counts as failed too, as nobody may be left to say how it ended; unless only failed ones are replaced.
 */
export const hasFailed = (pod: Pod, job: Job): boolean =>
  pod.status?.phase === 'Failed' ||
  (!replacesOnlyFailed(job) && pod.metadata.deletionTimestamp !== undefined && !hasSucceeded(pod))

/** When a pod ended, in ms since 1970: by its containers, or by what comes closest to it. */
export function finishedAt(pod: Pod): number {
  const { metadata, spec, status } = pod
  const sidecars = new Set(
    spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  )
  const containers = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)) ?? []),
  ]
  const ends = containers.map(({ state }) => state?.terminated?.finishedAt)
  if (ends.length > 0 && ends.every((end) => end !== undefined)) return Math.max(...ends.map((end) => Date.parse(end)))
  const notReady = status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False')
  if (notReady?.lastTransitionTime) return Date.parse(notReady.lastTransitionTime)
  if (metadata.deletionTimestamp)
    return Date.parse(metadata.deletionTimestamp) - Number(metadata.deletionGracePeriodSeconds ?? 0) * 1000
  return Date.parse(metadata.creationTimestamp ?? '')
}
