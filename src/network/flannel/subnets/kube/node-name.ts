/** The name of this machine's Node, from the environment of flannel's pod. */
import { Connection, type ServerAccess } from '../../../../client/connection/connection.ts'
import { pods } from '../../../../client/kinds.ts'
import { RestClient } from '../../../../client/rest/rest-client.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** `NODE_NAME`, or the node of the pod `POD_NAME` in `POD_NAMESPACE`. Rejects with a sentence if neither is set. */
export async function nodeNameOf(environment: Environment, server: ServerAccess): Promise<string> {
  const { NODE_NAME: node, POD_NAME: pod, POD_NAMESPACE: namespace } = environment
  if (node) return node
  if (!pod || !namespace)
    throw new Error('env variables POD_NAME and POD_NAMESPACE must be set, or NODE_NAME to the name of the Node')
  const connection = new Connection({ ...server, userAgent: 't8s-flannel' })
  try {
    const { spec } = await new RestClient(connection).get(pods, namespace, pod)
    if (spec?.nodeName) return spec.nodeName
    throw new Error(`node name not present in pod spec '${namespace}/${pod}'`)
  } finally {
    connection.close()
  }
}
