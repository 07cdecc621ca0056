/** The suite of ReplicaSets and ReplicationControllers on simulated nodes. */
import { describe } from 'node:test'
import { replicaSuite } from '../suites/replicas.ts'
import { simulatedNodes } from '../support/pod-nodes.ts'

const nodes = simulatedNodes(2)

describe('ReplicaSets and ReplicationControllers on simulated nodes', { concurrency: 8 }, () => replicaSuite(nodes))
