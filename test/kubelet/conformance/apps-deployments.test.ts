/** The conformance suite of Deployments, on a real node. */
import { describe } from 'node:test'
import { deploymentSuite } from '../../conformance/suites/deployments.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { realNodes } from '../support/real-nodes.ts'

await inNamespaces(import.meta.filename, () =>
  describe('Deployments on a real node', { concurrency: 8 }, () => deploymentSuite(realNodes())),
)
