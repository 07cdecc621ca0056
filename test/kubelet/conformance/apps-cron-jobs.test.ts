/** The conformance suite of CronJobs, on a real node. */
import { describe } from 'node:test'
import { cronJobSuite } from '../../conformance/suites/cron-jobs.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { realNodes } from '../support/real-nodes.ts'

await inNamespaces(import.meta.filename, () =>
  describe('CronJobs on a real node', { concurrency: 8 }, () => cronJobSuite(realNodes())),
)
