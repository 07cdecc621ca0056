/** The group batch: workloads that run to completion. */
import type { ResourceDefinition } from '../resource.ts'
import { cronJobs } from './cron-job.ts'
import { jobs } from './job/index.ts'

export const resources: readonly ResourceDefinition[] = [cronJobs, jobs]
