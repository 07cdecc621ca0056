/**
 * Deletes the Nodes of machines that leave. As upstream, a node may not delete Nodes, not even its own, but it may
 * annotate its own: that is how `t8s leave` asks.
 */
import { Connection } from '../../client/connection/connection.ts'
import { SharedInformers } from '../../client/informers/shared-informers.ts'
import { type Node, nodes } from '../../client/kinds.ts'
import { ignoreNotFound } from '../../client/rest/api-errors.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { messageOf } from '../../lib/message-of.ts'

/** The annotation of a Node whose machine has ended all pods and leaves. */
export const leavingAnnotation = 't8s.dev/leaving'

/** Follows the Nodes until the returned function is called. */
export function deleteLeavingNodes(administrator: Access, log: (line: string) => void): () => Promise<void> {
  const connection = new Connection(administrator)
  const client = new RestClient(connection)
  const informers = new SharedInformers(client, log)
  informers.of(nodes).onChange((node) => {
    if (node && isLeaving(node)) void deleteNode(client, node, log)
  })
  return async () => {
    await informers.stop()
    connection.close()
  }
}

const isLeaving = ({ metadata: { annotations, deletionTimestamp } }: Node): boolean =>
  annotations?.[leavingAnnotation] === 'true' && deletionTimestamp === undefined

async function deleteNode(client: RestClient, node: Node, log: (line: string) => void): Promise<void> {
  const { name = '', uid } = node.metadata
  try {
    await client.delete(nodes, '', name, { uid }).catch(ignoreNotFound)
  } catch (error) {
    log(`the Node ${name} of a machine that leaves cannot be deleted: ${messageOf(error)}`)
  }
}
