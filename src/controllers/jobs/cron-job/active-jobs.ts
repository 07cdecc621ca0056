/** Computes a CronJob's active Jobs and last successful time, and the finished Jobs beyond the history limits. */
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
  /** Finished since they were listed as active. */
  readonly ended: readonly Job[]
  /** Listed as active but not found. */
  readonly missing: readonly JobReference[]
  /** Running but not listed as active. */
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

/** The oldest finished Jobs beyond the history limits. */
export function surplusJobs({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const beyond = (type: string, limit: number | undefined): Job[] => {
    const ended = jobs.filter((job) => finishedCondition(job)?.type === type && !job.metadata.deletionTimestamp)
    return limit === undefined ? [] : ended.sort(byStart).slice(0, Math.max(0, ended.length - limit))
  }
  return [...beyond('Complete', spec?.successfulJobsHistoryLimit), ...beyond('Failed', spec?.failedJobsHistoryLimit)]
}

/** Jobs that never started come last. */
function byStart(a: Job, b: Job): number {
  const started = ({ status }: Job): number =>
    status?.startTime ? Date.parse(status.startTime) : Number.MAX_SAFE_INTEGER
  return started(a) - started(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
}
