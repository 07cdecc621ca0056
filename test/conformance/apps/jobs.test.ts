/** The suite of Jobs on simulated nodes. */
import { jobSuite } from '../suites/jobs.ts'
import { simulatedNodes } from '../support/pod-nodes.ts'

jobSuite(simulatedNodes(2))
