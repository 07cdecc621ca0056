/** The group batch: work that comes to an end. */
import type { ResourceDefinition } from '../resource.ts'
import { cronJobs } from './cron-job.ts'
import { jobs } from './job/index.ts'

export const resources: readonly ResourceDefinition[] = [cronJobs, jobs]
