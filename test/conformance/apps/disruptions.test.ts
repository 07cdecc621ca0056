/** The suite of disruption budgets on simulated nodes. */
import { describe } from 'node:test'
import { disruptionSuite } from '../suites/disruptions.ts'
import { simulatedNodes } from '../support/pod-nodes.ts'

const nodes = simulatedNodes(2)

describe('Disruption budgets on simulated nodes', { concurrency: 8 }, () => disruptionSuite(nodes))
