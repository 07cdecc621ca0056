/** Reads and writes objects of any kind. Rejections of the server are StatusErrors. */

import type { VersionInfo } from '@kubernetes/client-node'
import { parseJson, writeJson } from '../../lib/exact-json.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { type Status, StatusError } from '../../machinery/status-error.ts'
import type { ClientRequest, Connection } from '../connection/connection.ts'
import type { Impersonation } from '../connection/credentials/credentials.ts'
import { apiVersionOf, collectionPath, objectPath, type Resource } from '../resource.ts'
import type { ApplyConfiguration } from './apply-configuration.ts'
import type {
  ApplyOptions,
  DeleteOptions,
  Identity,
  ListOptions,
  ObjectList,
  PageOptions,
  PatchType,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './request-options.ts'
import { openStream, readBody, sendAndRead, statusError } from './response.ts'

export type * from './request-options.ts'

const patchTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

const pageSize = 500
/** Servers end requests after one minute. */
const answerTimeoutMs = 90_000
const metadataType = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`

/** Returns true if a bookmark ends the initial events of a watch. */
export const endsInitialEvents = ({ metadata: { annotations } }: KubeObject): boolean =>
  annotations?.['k8s.io/initial-events-end'] === 'true'

interface Page<T> {
  readonly items: readonly T[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

/**
 * A typed client for objects of all kinds. Methods that take a name send nothing and reject with an Error if the name
 * is empty or cannot be part of a path (`requireName`).
 * @example
 * const client = await connectTo()
 * const { items } = await client.list(pods, { namespace: 'default' })
 */
export class RestClient {
  readonly #connection: Connection
  readonly #identity: Identity

  /** Clients of several users can share a connection: `identity` is the user's credentials, or a bearer token. */
  constructor(connection: Connection, identity: Identity | string = {}) {
    this.#connection = connection
    this.#identity = typeof identity === 'string' ? { token: identity } : identity
  }

  /** Returns a client that impersonates a user, on the same connection. */
  as(impersonate: Impersonation): RestClient {
    return new RestClient(this.#connection, { ...this.#identity, impersonate })
  }

  /**
   * Returns an object, or one of its subresources. Rejects with a StatusError 404 if it does not exist.
   * @example const pod = await client.get(pods, 'default', 'web')
   */
  async get<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string,
    name: string,
    subresource = '',
  ): Promise<T> {
    return this.request('GET', objectPath(resource, namespace, name, subresource))
  }

  /**
   * Returns an object, or undefined if it does not exist.
   * @example const node = await client.find(nodes, '', 'node-1')
   */
  async find<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): Promise<T | undefined> {
    return this.get(resource, namespace, name).catch((error) => {
      if (error instanceof StatusError && error.code === 404) return undefined
      throw error
    })
  }

  /**
   * Returns all objects that match, read page by page.
   * @example const { items, resourceVersion } = await client.list(pods, { labelSelector: 'app=web' })
   */
  async list<T extends KubeObject>(resource: Resource<T>, options: PageOptions = {}): Promise<ObjectList<T>> {
    const items: T[] = []
    let resourceVersion = ''
    try {
      for await (const page of this.pages(resource, options)) {
        for (const item of page.items) items.push(item)
        resourceVersion = page.resourceVersion
      }
      return { items, resourceVersion }
    } catch (error) {
      // The revision of the first page is compacted: read everything in one request.
      if (items.length > 0 && error instanceof StatusError && error.code === 410)
        return this.list(resource, { ...options, limit: 0 })
      throw error
    }
  }

  /**
   * Yields the pages of a list, all of the same revision. Throws a StatusError 410 if that revision is compacted before
   * the last page is read.
   */
  async *pages<T extends KubeObject>(
    resource: Resource<T>,
    { limit = pageSize, ...options }: PageOptions = {},
  ): AsyncGenerator<ObjectList<T>> {
    const accept = options.metadataOnly ? metadataType('PartialObjectMetadataList') : undefined
    for (let continueToken = ''; ; ) {
      const query = new URLSearchParams({
        ...selectors(options),
        ...(limit > 0 && { limit: `${limit}` }),
        ...(continueToken && { continue: continueToken }),
      })
      const { items, metadata } = await this.request<Page<T>>(
        'GET',
        `${collectionPath(resource, options.namespace)}?${query}`,
        { accept },
      )
      // The items of a list have no apiVersion and kind.
      yield {
        items: (items ?? []).map((item) => ({ ...item, apiVersion: apiVersionOf(resource), kind: resource.kind })),
        resourceVersion: metadata.resourceVersion,
      }
      continueToken = metadata.continue ?? ''
      if (!continueToken) return
    }
  }

  /** Yields the objects of a list; reads the next page when it is needed. */
  async *items<T extends KubeObject>(resource: Resource<T>, options: PageOptions = {}): AsyncGenerator<T> {
    for await (const page of this.pages(resource, options)) yield* page.items
  }

  /**
   * Yields the changes after `resourceVersion` until the server ends the watch. Throws ConnectionLost, or the
   * StatusError of an ERROR event (410: list again).
   * @example for await (const { type, object } of client.watch(pods, { resourceVersion, signal })) console.log(type)
   */
  async *watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { resourceVersion, signal, sendInitialEvents, timeoutSeconds, metadataOnly } = options
    const accept = metadataOnly ? metadataType('PartialObjectMetadata') : options.accept
    const query = new URLSearchParams({
      ...selectors(options),
      watch: '1',
      allowWatchBookmarks: 'true',
      ...(resourceVersion && { resourceVersion }),
      ...(sendInitialEvents && { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }),
      ...(timeoutSeconds && { timeoutSeconds: `${timeoutSeconds}` }),
    })
    const request: ClientRequest = {
      ...this.#identity,
      method: 'GET',
      path: `${collectionPath(resource, options.namespace)}?${query}`,
      signal,
      accept,
    }
    const answer = await openStream(this.#connection, request)
    let partialLine = ''
    const decoder = new TextDecoder()
    for await (const piece of readBody(request, answer)) {
      const lines = (partialLine + decoder.decode(piece, { stream: true })).split('\n')
      partialLine = lines.pop() ?? ''
      for (const line of lines) {
        const event = parseJson(line) as WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status }
        if (event.type === 'ERROR') throw statusError(event.object)
        yield metadataOnly
          ? { type: event.type, object: { ...event.object, apiVersion: apiVersionOf(resource), kind: resource.kind } }
          : event
      }
    }
  }

  /** Creates an object and returns it as stored. */
  async create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.request('POST', withQuery(collectionPath(resource, object.metadata.namespace), options), {
      body: object,
    })
  }

  /** Replaces an object. If it has a resourceVersion, rejects with a StatusError 409 when the stored one differs. */
  async update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    subresource = '',
    options: WriteOptions = {},
  ): Promise<T> {
    const { namespace = '', name = '', resourceVersion } = object.metadata
    return this.request('PUT', withQuery(objectPath(resource, namespace, name, subresource), options), {
      body: object,
      repeatable: resourceVersion !== undefined,
    })
  }

  /** Replaces the status of an object. */
  updateStatus<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
    return this.update(resource, object, 'status')
  }

  /** Patches an object, or one of its subresources. */
  async patch<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string,
    name: string,
    patch: object,
    type: PatchType = 'strategic',
    subresource = '',
    options: WriteOptions = {},
  ): Promise<T> {
    return this.request('PATCH', withQuery(objectPath(resource, namespace, name, subresource), options), {
      body: patch,
      contentType: patchTypes[type],
    })
  }

  /** Posts to a subresource such as `eviction`, `binding` or `token`. */
  async createUnder<Answer>(
    resource: Resource,
    namespace: string,
    name: string,
    subresource: string,
    object: object,
  ): Promise<Answer> {
    return this.request('POST', objectPath(resource, namespace, name, subresource), { body: object })
  }

  /**
   * Server-side apply: sets the fields of `object`, owned by `manager` (its name, or options with `fieldManager`).
   * @example await client.apply(deployments, { metadata: { namespace, name }, spec: { replicas: 2 } }, 'my-manager')
   */
  async apply<T extends KubeObject>(
    resource: Resource<T>,
    object: ApplyConfiguration<T>,
    manager: string | ApplyOptions,
  ): Promise<T> {
    const { force = true, subresource, ...options } = typeof manager === 'string' ? { fieldManager: manager } : manager
    const { namespace = '', name } = object.metadata
    const path = withQuery(objectPath(resource, namespace, name, subresource), options, force ? { force: 'true' } : {})
    const body = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind }
    return this.request('PATCH', path, { body, contentType: 'application/apply-patch+yaml', repeatable: true })
  }

  /**
   * Deletes an object. Rejects with a StatusError 404 if it does not exist.
   * @example await client.delete(pods, 'default', 'web', { propagationPolicy: 'Foreground' })
   */
  async delete(resource: Resource, namespace: string, name: string, options: DeleteOptions = {}): Promise<void> {
    // Without a uid, a retry could delete an object that was created after the first attempt.
    await this.request('DELETE', objectPath(resource, namespace, name), {
      body: deleteBody(options),
      repeatable: options.uid !== undefined,
    })
  }

  /** Deletes all objects that match. */
  async deleteCollection(
    resource: Resource,
    { namespace, ...selection }: ListOptions,
    options: DeleteOptions = {},
  ): Promise<void> {
    await this.request(
      'DELETE',
      `${collectionPath(resource, namespace)}?${new URLSearchParams(selectors(selection))}`,
      {
        body: deleteBody(options),
      },
    )
  }

  /**
   * Returns the version of the server (`/version`).
   * @example const { gitVersion } = await client.serverVersion()
   */
  serverVersion(): Promise<ServerVersion> {
    return this.read('/version')
  }

  /** Sends a GET for any path and returns the parsed JSON. `accept` is the `Accept` header. */
  read<T>(path: string, accept?: string): Promise<T> {
    return this.request('GET', path, { accept })
  }

  /**
   * Sends any request and returns the parsed response. A `repeatable` request (default: GET) is retried if its response
   * is lost. Rejects with the server's StatusError, or with ConnectionLost.
   */
  request<T>(
    method: string,
    path: string,
    { body, contentType = 'application/json', accept, repeatable = method === 'GET' }: CallOptions = {},
  ): Promise<T> {
    const content = body && { contentType, body: Buffer.from(writeJson(body)) }
    return sendAndRead<T>(
      this.#connection,
      { ...this.#identity, method, path, accept, timeoutMs: answerTimeoutMs, ...content },
      repeatable,
    )
  }
}

/** `gitVersion` is `v1.36.2`; `major` and `minor` are its numbers as text. */
export type ServerVersion = VersionInfo

export interface CallOptions {
  readonly body?: object
  readonly contentType?: string
  readonly accept?: string
  readonly repeatable?: boolean
}

const deleteBody = ({ uid, resourceVersion, ...rest }: DeleteOptions): object => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
  ...rest,
})

function selectors({ fieldSelector, labelSelector }: ListOptions): Record<string, string> {
  return { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) }
}

function withQuery(path: string, { fieldManager, dryRun }: WriteOptions, extra: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    ...(fieldManager && { fieldManager }),
    ...(dryRun && { dryRun: 'All' }),
    ...extra,
  }).toString()
  return query ? `${path}?${query}` : path
}
