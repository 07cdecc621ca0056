/** Work that ends: Jobs, CronJobs, and the removal of what has ended. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'
import { cronJobController } from './cron-job/cron-job-controller.ts'
import { jobController } from './job/job-controller.ts'
import { ttlAfterFinished } from './ttl-after-finished.ts'

const jobSyncs = 'concurrent-job-syncs'
const cronJobSyncs = 'concurrent-cron-job-syncs'
const ttlSyncs = 'concurrent-ttl-after-finished-syncs'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'job-controller',
    aliases: ['job'],
    account: 'job-controller',
    flags: [concurrencyFlag(jobSyncs, 'Jobs', 5)],
    make: (_sources, flags) => jobController({ concurrency: flags.number(jobSyncs) }),
  },
  {
    name: 'cronjob-controller',
    aliases: ['cronjob'],
    account: 'cronjob-controller',
    flags: [concurrencyFlag(cronJobSyncs, 'CronJobs', 5)],
    make: (_sources, flags) => cronJobController(flags.number(cronJobSyncs)),
  },
  {
    name: 'ttl-after-finished-controller',
    aliases: ['ttl-after-finished'],
    account: 'ttl-after-finished-controller',
    flags: [concurrencyFlag(ttlSyncs, 'ended Jobs', 5)],
    make: (_sources, flags) => ttlAfterFinished(flags.number(ttlSyncs)),
  },
]
