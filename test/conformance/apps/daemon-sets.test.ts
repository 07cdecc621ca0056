/** The suite of DaemonSets on simulated nodes. */
import { describe } from 'node:test'
import { daemonSetSuite } from '../suites/daemon-sets.ts'
import { simulatedNodes } from '../support/pod-nodes.ts'

const nodes = simulatedNodes(2)

describe('DaemonSets on simulated nodes', { concurrency: 8 }, () => daemonSetSuite(nodes))
