/** The suite of Deployments on simulated nodes. */
import { describe } from 'node:test'
import { deploymentSuite } from '../suites/deployments.ts'
import { simulatedNodes } from '../support/pod-nodes.ts'

const nodes = simulatedNodes(2)

describe('Deployments on simulated nodes', { concurrency: 8 }, () => deploymentSuite(nodes))
