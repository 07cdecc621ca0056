/** The entry point of the client library: connects to the cluster of a kubeconfig or of the current pod. */

import { RestClient } from '../rest/rest-client.ts'
import { Connection, type ServerAccess } from './connection.ts'
import { type LoadOptions, loadAccess } from './load-access.ts'

/** The server of `connectTo`, and the credentials for it. */
export interface ConnectOptions extends LoadOptions, Partial<Omit<ServerAccess, 'url'>> {
  /** The server, such as `startCluster().client`. Default: from the kubeconfig or the pod. */
  readonly access?: ServerAccess
}

/**
 * A client that owns its connection.
 * @example const client: Client = await connectTo()
 */
export interface Client extends RestClient {
  /** The default namespace: that of the kubeconfig's context or of the pod. */
  readonly namespace: string
  /** Closes the connection and cancels its requests. */
  close(): void
}

class ConnectedClient extends RestClient implements Client {
  readonly namespace: string
  readonly #connection: Connection

  constructor(connection: Connection, namespace: string) {
    super(connection)
    this.#connection = connection
    this.namespace = namespace
  }

  close(): void {
    this.#connection.close()
  }
}

/**
 * Returns a client for the cluster of `access`, of a kubeconfig, or of the current pod. Sends nothing before the first
 * request. Rejects with an Error that names what is missing.
 * @example
 * const client = await connectTo({ context: 'work', rateLimit: { qps: 20, burst: 30 } })
 * const pod = await client.get(pods, 'default', 'web')
 * client.close()
 */
export async function connectTo({
  access,
  kubeconfig,
  context,
  environment,
  accountFolder,
  ...connection
}: ConnectOptions = {}): Promise<Client> {
  const loaded = access
    ? { ...access, namespace: 'default' }
    : await loadAccess({ kubeconfig, context, environment, accountFolder })
  const { namespace, ...server } = loaded
  return new ConnectedClient(new Connection({ ...server, ...connection }), namespace)
}
