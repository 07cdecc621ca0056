/** The conformance suite of DaemonSets, on a real node and a simulated node beside it. */
import { describe } from 'node:test'
import { daemonSetSuite } from '../../conformance/suites/daemon-sets.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { realNodes } from '../support/real-nodes.ts'

await inNamespaces(import.meta.filename, () =>
  describe('DaemonSets on a real node', { concurrency: 8 }, () => daemonSetSuite(realNodes(1))),
)
