/**
 * Selector and labels of a Job's pods. By default the server generates them from the Job's uid, so that no two Jobs
 * share pods.
 */
import type { V1Job } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'

export const controllerUid = 'batch.kubernetes.io/controller-uid'
const jobName = 'batch.kubernetes.io/job-name'

/** Returns the labels of the template, each under its new and its old key. */
export const expectedLabels = (uid: string, name: string): Record<string, string> => ({
  'controller-uid': uid,
  [controllerUid]: uid,
  'job-name': name,
  [jobName]: name,
})

/** Adds labels and selector to a new Job. Keeps the user's values; validation rejects them if they do not match. */
export function generateSelector({ metadata, spec }: Model<V1Job>): void {
  if (!spec || spec.manualSelector) return
  const uid = metadata.uid ?? ''
  spec.template ??= {}
  spec.template.metadata ??= {}
  spec.template.metadata.labels = { ...expectedLabels(uid, metadata.name ?? ''), ...spec.template.metadata.labels }
  spec.selector ??= {}
  spec.selector.matchLabels = { [controllerUid]: uid, ...spec.selector.matchLabels }
}
