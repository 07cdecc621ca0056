/** The suite of StatefulSets on simulated nodes. */
import { describe } from 'node:test'
import { statefulSetSuite } from '../suites/stateful-sets.ts'
import { simulatedNodes } from '../support/pod-nodes.ts'

const nodes = simulatedNodes(2)

describe('StatefulSets on simulated nodes', { concurrency: 8 }, () => statefulSetSuite(nodes))
