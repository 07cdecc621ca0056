/** exec, attach, run and cp with real containers and every kubectl, by SPDY and WebSockets. Needs root. */
import { after } from 'node:test'
import { manyKubectls } from '../../support/kubectl.ts'
import { reachable } from '../../support/reachable-cluster.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { TestNode } from '../support/test-node.ts'
import { startWeb, testCommands } from './command-tests.ts'

await inNamespaces(import.meta.filename, async () => {
  const node = await TestNode.start()
  const cluster = reachable({ after }, node.cluster)
  await startWeb(node)
  for (const program of manyKubectls()) testCommands(node, cluster, program)
})
