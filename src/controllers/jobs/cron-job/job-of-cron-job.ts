/** Builds the Job of a CronJob for a scheduled time. */
import type { CronJob, Job } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'

const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
const minuteMs = 60_000

/** The name is derived from the time, so that no time gets two Jobs. `time` is in ms since the epoch. */
export const jobName = ({ metadata }: CronJob, time: number): string =>
  `${metadata.name}-${Math.floor(time / minuteMs)}`

export function jobAt(cron: CronJob, time: number): Job {
  const { metadata: { labels, annotations } = {}, spec } = cron.spec?.jobTemplate ?? {}
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: cron.metadata.namespace,
      name: jobName(cron, time),
      ...(labels && { labels: { ...labels } }),
      annotations: { ...annotations, [scheduledAnnotation]: timeIn(time, cron.spec?.timeZone) },
      ownerReferences: [controllerReference(cron)],
    },
    ...(spec && { spec }),
  }
}

/** Formats a time with the offset of a zone (RFC 3339). Default: UTC. */
export function timeIn(time: number, timeZone: string | undefined): string {
  // 2026-07-01 04:30:00
  const local = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timeZone ?? 'UTC',
    dateStyle: 'short',
    timeStyle: 'medium',
  })
    .format(time)
    .replace(' ', 'T')
  const offset = Math.round((Date.parse(`${local}Z`) - time) / minuteMs)
  const digits = (value: number): string => `${value}`.padStart(2, '0')
  const size = Math.abs(offset)
  return offset === 0
    ? `${local}Z`
    : `${local}${offset < 0 ? '-' : '+'}${digits(Math.floor(size / 60))}:${digits(size % 60)}`
}
