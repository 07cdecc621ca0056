/** Jobs and pods for unit tests. */
import type { Job, Pod } from '../../../client/kinds.ts'
import { completionIndexAnnotation, trackingFinalizer } from './pods.ts'

export const jobOf = (spec: object, status: object = {}): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: 'n', name: 'j', uid: 'j', resourceVersion: '1' },
  spec: { parallelism: 1, backoffLimit: 6, template: { spec: { containers: [{ name: 'c', image: 'i' }] } }, ...spec },
  status,
})

/** A pod with the tracking finalizer. */
export const podOf = (name: string, status: object, metadata: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'n',
    name,
    uid: name,
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [trackingFinalizer],
    ...metadata,
  },
  status,
})

export interface Ending {
  readonly container?: string
  readonly conditions?: readonly object[]
  readonly finishedAt?: string
  readonly index?: number
  /** Earlier failures of its index. */
  readonly failures?: number
}

export function endedPod(
  name: string,
  exitCode: number,
  { container = 'c', conditions = [], finishedAt, index, failures }: Ending = {},
): Pod {
  const state = { terminated: { exitCode, ...(finishedAt && { finishedAt }) } }
  const annotations = {
    ...(index !== undefined && { [completionIndexAnnotation]: `${index}` }),
    ...(failures !== undefined && { 'batch.kubernetes.io/job-index-failure-count': `${failures}` }),
  }
  const containerStatuses = [{ name: container, image: 'i', imageID: '', ready: false, restartCount: 0, state }]
  return podOf(name, { phase: exitCode === 0 ? 'Succeeded' : 'Failed', conditions, containerStatuses }, { annotations })
}
