/** The conformance suites of ReplicaSets, ReplicationControllers and disruption budgets, on a real node. */
import { describe } from 'node:test'
import { disruptionSuite } from '../../conformance/suites/disruptions.ts'
import { replicaSuite } from '../../conformance/suites/replicas.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { realNodes } from '../support/real-nodes.ts'

await inNamespaces(import.meta.filename, () =>
  describe('replicas on a real node', { concurrency: 8 }, () => {
    const nodes = realNodes()
    replicaSuite(nodes)
    disruptionSuite(nodes)
  }),
)
