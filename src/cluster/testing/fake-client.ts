/**
 * A client for unit tests. It talks to the real API server, on a store in memory and without a port: defaults,
 * validation, resource versions, conflicts, watches, server-side apply and custom resources behave as in a cluster.
 */
import { startApiServer } from '../../apiserver/server.ts'
import { Connection } from '../../client/connection/connection.ts'
import { DynamicClient } from '../../client/discovery/dynamic-client.ts'
import type { CustomResourceDefinition } from '../../client/kinds.ts'
import { customResourceDefinitions } from '../../client/kinds.ts'
import { waitFor } from '../../client/objects/wait-for.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { memoryStore } from '../../storage/memory/index.ts'

/** The objects that a fake client begins with, and its faults. */
export interface FakeClientOptions {
  /** Initial objects, status included. Definitions of custom resources come before their objects. */
  readonly objects?: readonly KubeObject[]
  /** Called before each request of the client. If it throws, the request rejects with that error. */
  readonly before?: (method: string, path: string) => void
}

/** A client on the API machinery in memory, without a server. */
export interface FakeClient extends RestClient {
  /** Adds objects, status included, without calling `before`; missing namespaces are created. */
  add(...objects: readonly KubeObject[]): Promise<void>
  /** Closes the client and aborts running requests. */
  close(): Promise<void>
}

const token = 'fake'
const group = 'system:masters'

/**
 * Resolves when the objects exist. Rejects with a StatusError for an invalid object.
 *
 * @example
 * const client = await fakeClient({ objects: [deployment] })
 * await reconcile(client, deployment.metadata)
 * await client.close()
 */
export async function fakeClient({ objects = [], before }: FakeClientOptions = {}): Promise<FakeClient> {
  const store = memoryStore()
  const server = await startApiServer({
    store,
    bindAddress: '127.0.0.1',
    port: 0,
    tokens: [{ token, user: { name: group, groups: [group] } }],
    // No controller creates service accounts here.
    admission: { disabled: ['ServiceAccount'] },
  })
  const access = { url: 'http://fake', dial: server.dial }
  const connection = new ObservedConnection(access, before)
  const own = new Connection(access)
  const dynamic = new DynamicClient(new RestClient(own, token))
  const client = new Fake(connection, dynamic, async () => {
    connection.close()
    own.close()
    await server.stop({ graceMs: 0 })
    await store.close()
  })
  try {
    await client.add(...objects)
  } catch (error) {
    await client.close()
    throw error
  }
  return client
}

class ObservedConnection extends Connection {
  readonly #before: FakeClientOptions['before']

  constructor(access: ConstructorParameters<typeof Connection>[0], before: FakeClientOptions['before']) {
    super(access)
    this.#before = before
  }

  override async send(...[request]: Parameters<Connection['send']>): ReturnType<Connection['send']> {
    this.#before?.(request.method, request.path)
    return super.send(request)
  }
}

class Fake extends RestClient implements FakeClient {
  readonly #dynamic: DynamicClient
  readonly #close: () => Promise<void>
  #closed: Promise<void> | undefined

  constructor(connection: Connection, dynamic: DynamicClient, close: () => Promise<void>) {
    super(connection, token)
    this.#dynamic = dynamic
    this.#close = close
  }

  async add(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) await this.#add(object as Unstructured)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #add(object: Unstructured): Promise<void> {
    const { client, mapper } = this.#dynamic
    const { subresources } = await mapper.forKind(object.apiVersion, object.kind)
    const { namespace } = object.metadata
    if (namespace)
      await this.#dynamic.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, token)
    const created = await this.#dynamic.create(object)
    if (object.status && subresources.includes('status'))
      await this.#dynamic.update({ ...created, status: object.status }, 'status')
    if (object.kind === 'CustomResourceDefinition')
      await waitFor(client, customResourceDefinitions, { name: created.metadata.name ?? '' }, isServed)
  }
}

const isServed = (definition: CustomResourceDefinition | undefined): boolean =>
  definition?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false
