/** Reads a Job's pods: their completion index, whether they are tracked, how and when they ended. */
import type { Job, Pod } from '../../../client/kinds.ts'

/** Retains a pod until it is counted in the Job's status (KEP-2307). */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
export const completionIndexAnnotation = 'batch.kubernetes.io/job-completion-index'

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(trackingFinalizer) ?? false

export const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === 'Indexed'

/** Undefined if the annotation is missing or invalid. */
export function completionIndexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[completionIndexAnnotation]
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

export const hasSucceeded = ({ status }: Pod): boolean => status?.phase === 'Succeeded'

/**
 * Returns true if a pod is replaced only after it has failed, not when it is deleted (KEP-3939). A failure policy needs
 * the pod's final state.
 */
export const replacesOnlyFailed = ({ spec }: Job): boolean =>
  spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined

/** A deleted pod counts as failed, as its final state may never be reported, unless only failed pods are replaced. */
export const hasFailed = (pod: Pod, job: Job): boolean =>
  pod.status?.phase === 'Failed' ||
  (!replacesOnlyFailed(job) && pod.metadata.deletionTimestamp !== undefined && !hasSucceeded(pod))

/** The time at which a pod ended, in ms since the epoch: from its containers or the closest known time. */
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
