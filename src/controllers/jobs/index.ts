/** Controllers of Jobs and CronJobs, and the deletion of finished Jobs. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'

const jobSyncs = 'concurrent-job-syncs'
const cronJobSyncs = 'concurrent-cron-job-syncs'
const ttlSyncs = 'concurrent-ttl-after-finished-syncs'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'job-controller',
    queue: 'job',
    aliases: ['job'],
    account: 'job-controller',
    flags: [concurrencyFlag(jobSyncs, 'Jobs', 5)],
    make: async ({ clock }, flags, registry) => {
      const [{ jobController }, { JobMetrics }] = await Promise.all([
        import('./job/job-controller.ts'),
        import('./job/metrics.ts'),
      ])
      return jobController({
        concurrency: flags.number(jobSyncs),
        metrics: new JobMetrics(registry),
        now: () => clock.now(),
      })
    },
  },
  {
    name: 'cronjob-controller',
    queue: 'cronjob',
    aliases: ['cronjob'],
    account: 'cronjob-controller',
    flags: [concurrencyFlag(cronJobSyncs, 'CronJobs', 5)],
    make: async ({ clock }, flags, registry) => {
      const [{ cronJobController }, { creationSkew }] = await Promise.all([
        import('./cron-job/cron-job-controller.ts'),
        import('./time-metrics.ts'),
      ])
      return cronJobController(flags.number(cronJobSyncs), creationSkew(registry), () => clock.now())
    },
  },
  {
    name: 'ttl-after-finished-controller',
    queue: 'ttl_jobs_to_delete',
    aliases: ['ttl-after-finished'],
    account: 'ttl-after-finished-controller',
    flags: [concurrencyFlag(ttlSyncs, 'finished Jobs', 5)],
    make: async ({ clock }, flags, registry) => {
      const [{ ttlAfterFinished }, { deletionDelay }] = await Promise.all([
        import('./ttl-after-finished.ts'),
        import('./time-metrics.ts'),
      ])
      return ttlAfterFinished(flags.number(ttlSyncs), deletionDelay(registry), () => clock.now())
    },
  },
]
