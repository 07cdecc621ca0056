/** The commands of kubectl with --redirect-container-streaming: the API server follows the redirects. Needs root. */
import { after } from 'node:test'
import { installedKubectls } from '../../support/kubectl.ts'
import { reachable } from '../../support/reachable-cluster.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { TestNode } from '../support/test-node.ts'
import { startWeb, testCommands } from './command-tests.ts'

await inNamespaces(import.meta.filename, async () => {
  const node = await TestNode.start({}, { redirectContainerStreaming: true })
  const cluster = reachable({ after }, node.cluster)
  await startWeb(node)
  testCommands(node, cluster, installedKubectls().at(-1)!)
})
