/** Deletes Jobs of a CronJob and records events. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type CronJob, type Job, jobs } from '../../../client/kinds.ts'
import { isNotFound, messageOf } from '../../api-errors.ts'

/** Deletes a Job and its pods in the background. Rejects with the server's error. */
export async function deleteJob(cron: CronJob, { metadata }: Job, { client, events }: ReconcileContext): Promise<void> {
  const { namespace = '', name = '', uid } = metadata
  try {
    await client.delete(jobs, namespace, name, { uid, propagationPolicy: 'Background' })
    events.record(cron, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`)
  } catch (error) {
    if (isNotFound(error)) return
    events.record(cron, 'Warning', 'FailedDelete', `Deleted job: ${messageOf(error)}`)
    throw error
  }
}
