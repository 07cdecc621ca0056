/** The conformance suite of StatefulSets, on a real node. */
import { describe } from 'node:test'
import { statefulSetEvictionSuite, statefulSetSuite } from '../../conformance/suites/stateful-sets.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { realNodes } from '../support/real-nodes.ts'

await inNamespaces(import.meta.filename, () =>
  describe('StatefulSets on a real node', { concurrency: 8 }, () => {
    const nodes = realNodes()
    statefulSetSuite(nodes)
    statefulSetEvictionSuite(nodes)
  }),
)
