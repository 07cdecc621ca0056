/**
 * What a CronJob's status says of its Jobs: which run, and when the last one succeeded; and which of those that have
 * ended stay.
 */
import type { CronJob, Job } from '../../../client/kinds.ts'
import { finishedCondition } from '../finished.ts'

type CronJobStatus = NonNullable<CronJob['status']>
export type JobReference = NonNullable<CronJobStatus['active']>[number]

export const referenceTo = ({
  apiVersion,
  kind,
  metadata: { namespace, name, uid, resourceVersion },
}: Job): JobReference => ({
  apiVersion,
  kind,
  namespace,
  name,
  uid,
  resourceVersion,
})

export interface ActiveJobs {
  readonly active: readonly JobReference[]
  readonly lastSuccessfulTime: string | undefined
  /** Were active, and have ended. */
  readonly ended: readonly Job[]
  /** Are active by the status, but not there. */
  readonly missing: readonly JobReference[]
  /** Run, but were not made by the CronJob, or forgotten. */
  readonly unexpected: readonly Job[]
}

export function activeJobs({ status }: CronJob, jobs: readonly Job[]): ActiveJobs {
  const known = status?.active ?? []
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]))
  const isActive = (job: Job): boolean => known.some(({ uid }) => uid === job.metadata.uid)
  const ended = jobs.filter((job) => isActive(job) && finishedCondition(job))
  const successes = jobs
    .filter((job) => finishedCondition(job)?.type === 'Complete')
    .map(({ status }) => status?.completionTime)
  return {
    active: known.filter(({ uid }) => !ended.some((job) => job.metadata.uid === uid)),
    lastSuccessfulTime: latest([status?.lastSuccessfulTime, ...successes]),
    ended,
    missing: known.filter(({ uid }) => !byUid.has(uid)),
    unexpected: jobs.filter((job) => !isActive(job) && !finishedCondition(job)),
  }
}

const latest = (times: readonly (string | undefined)[]): string | undefined =>
  times
    .filter((time) => time !== undefined)
    .reduce<string | undefined>((a, b) => (a === undefined || Date.parse(b) > Date.parse(a) ? b : a), undefined)

/** Jobs that have ended beyond the limits of the history: the oldest. */
export function outlivedJobs({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const beyond = (type: string, limit: number | undefined): Job[] => {
    const ended = jobs.filter((job) => finishedCondition(job)?.type === type && !job.metadata.deletionTimestamp)
    return limit === undefined ? [] : ended.sort(byStart).slice(0, Math.max(0, ended.length - limit))
  }
  return [...beyond('Complete', spec?.successfulJobsHistoryLimit), ...beyond('Failed', spec?.failedJobsHistoryLimit)]
}

/** Those that never started come last. */
function byStart(a: Job, b: Job): number {
  const started = ({ status }: Job): number =>
    status?.startTime ? Date.parse(status.startTime) : Number.MAX_SAFE_INTEGER
  return started(a) - started(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
}
