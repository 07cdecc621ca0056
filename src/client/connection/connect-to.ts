/** The way in for programs: a client of the cluster that a kubeconfig, or the pod that the program runs in, names. */

import { RestClient } from '../rest/rest-client.ts'
import { Connection, type ServerAccess } from './connection.ts'
import { type LoadOptions, loadAccess } from './load-access.ts'

export interface ConnectOptions extends LoadOptions, Partial<Omit<ServerAccess, 'url'>> {
  /** A server that is known already, such as `startCluster().client`; what is loaded unless said. */
  readonly access?: ServerAccess
}

export interface Client extends RestClient {
  /** The namespace that is meant where none is named. */
  readonly namespace: string
  /** Ends the connection and what is under way on it. */
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
 * A client of a cluster: by `access`, by a kubeconfig, or by what a pod is given. Nothing is sent before the first
 * call. Rejects with an Error that says what is missing.
 */
export async function connectTo({
  access,
  kubeconfig,
  context,
  environment,
  accountFolder,
  ...more
}: ConnectOptions = {}): Promise<Client> {
  const loaded = access
    ? { ...access, namespace: 'default' }
    : await loadAccess({ kubeconfig, context, environment, accountFolder })
  const { namespace, ...server } = loaded
  return new ConnectedClient(new Connection({ ...server, ...more }), namespace)
}
