/** The suite of CronJobs on simulated nodes. */
import { describe } from 'node:test'
import { cronJobSuite } from '../suites/cron-jobs.ts'
import { simulatedNodes } from '../support/pod-nodes.ts'

const nodes = simulatedNodes(2)

describe('CronJobs on simulated nodes', { concurrency: 8 }, () => cronJobSuite(nodes))
