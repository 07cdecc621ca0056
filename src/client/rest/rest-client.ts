/** Reads and writes objects of any kind over the API. Refusals are StatusErrors, as the server told them. */

import type { VersionInfo } from '@kubernetes/client-node'
import { parseJson, writeJson } from '../../lib/exact-json.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { type Status, StatusError } from '../../machinery/status-error.ts'
import type { ClientRequest, Connection } from '../connection/connection.ts'
import type { Credentials, Impersonation } from '../connection/credentials/credentials.ts'
import type { TokenBucket } from '../connection/pacing/token-bucket.ts'
import { apiVersionOf, collectionPath, objectPath, type Resource } from '../resource.ts'
import { begin, bodyOf, complete, statusError } from './answer.ts'
import type { ApplyConfiguration } from './apply-configuration.ts'

export interface ListOptions {
  readonly namespace?: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
  /** Objects come with their metadata alone. */
  readonly metadataOnly?: boolean
}

export interface PageOptions extends ListOptions {
  /** Objects on a page; 500 unless said. */
  readonly limit?: number
}

export interface ObjectList<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
}

export interface WatchOptions extends ListOptions {
  readonly resourceVersion: string
  readonly signal: AbortSignal
  /** Begins with the objects that are there, closed by a bookmark that `endsInitialEvents` (KEP-3157). */
  readonly sendInitialEvents?: boolean
  /** When the server ends the watch. */
  readonly timeoutSeconds?: number
  /** The representation asked for; the objects themselves unless said. */
  readonly accept?: string
}

export interface DeleteOptions {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
}

export interface WriteOptions {
  /** Who is told in `managedFields`; the program's name unless said. */
  readonly fieldManager?: string
  /** Nothing is written: the answer is what would be. */
  readonly dryRun?: boolean
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  /** Takes fields that others have; true unless said. Without it their fields are a 409. */
  readonly force?: boolean
  /** Such as `status`. */
  readonly subresource?: string
}

/** Who asks, where that is not who the connection belongs to. */
export interface Identity {
  readonly token?: string
  /** In place of a token, where that changes. */
  readonly credentials?: Credentials
  /** A rate limit of its own. */
  readonly turns?: TokenBucket
  readonly impersonate?: Impersonation
}

/** How a patch is written (RFC 6902, RFC 7386, and Kubernetes' own that knows lists by their keys). */
export type PatchType = 'json' | 'merge' | 'strategic'

const patchTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

const pageSize = 500
/** Servers give requests a minute. */
const answerTimeoutMs = 90_000
const metadataType = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`

/** Whether a bookmark says that all objects that were there have been told. */
export const endsInitialEvents = ({ metadata: { annotations } }: KubeObject): boolean =>
  annotations?.['k8s.io/initial-events-end'] === 'true'

interface Page<T> {
  readonly items: readonly T[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

/**
 * Methods that take a name reject with an Error, and send nothing, if it is empty or no part of a path (`requireName`).
 */
export class RestClient {
  readonly #connection: Connection
  readonly #identity: Identity

  /** Several clients, of several users, may share a connection: `identity`, or its token, says who asks. */
  constructor(connection: Connection, identity: Identity | string = {}) {
    this.#connection = connection
    this.#identity = typeof identity === 'string' ? { token: identity } : identity
  }

  /** A client of the same connection that asks for somebody else's place. */
  as(impersonate: Impersonation): RestClient {
    return new RestClient(this.#connection, { ...this.#identity, impersonate })
  }

  async get<T extends KubeObject>(of: Resource<T>, namespace: string, name: string, subresource = ''): Promise<T> {
    return this.request('GET', objectPath(of, namespace, name, subresource))
  }

  /** The object, or undefined if there is none. */
  async find<T extends KubeObject>(of: Resource<T>, namespace: string, name: string): Promise<T | undefined> {
    return this.get(of, namespace, name).catch((error) => {
      if (error instanceof StatusError && error.code === 404) return undefined
      throw error
    })
  }

  /** All objects, read in pages. */
  async list<T extends KubeObject>(of: Resource<T>, options: PageOptions = {}): Promise<ObjectList<T>> {
    const items: T[] = []
    let resourceVersion = ''
    try {
      for await (const page of this.pages(of, options)) {
        for (const item of page.items) items.push(item)
        resourceVersion = page.resourceVersion
      }
      return { items, resourceVersion }
    } catch (error) {
      // The server does not remember what the first page showed: all at once, then.
      if (items.length > 0 && error instanceof StatusError && error.code === 410)
        return this.list(of, { ...options, limit: 0 })
      throw error
    }
  }

  /**
   * The pages of a list, all of one revision. Throws a StatusError 410 when the server has forgotten it before the last
   * one is read.
   */
  async *pages<T extends KubeObject>(
    of: Resource<T>,
    { limit = pageSize, ...options }: PageOptions = {},
  ): AsyncGenerator<ObjectList<T>> {
    const accept = options.metadataOnly ? metadataType('PartialObjectMetadataList') : undefined
    for (let from = ''; ; ) {
      const query = new URLSearchParams({
        ...selectors(options),
        ...(limit > 0 && { limit: `${limit}` }),
        ...(from && { continue: from }),
      })
      const { items, metadata } = await this.request<Page<T>>(
        'GET',
        `${collectionPath(of, options.namespace)}?${query}`,
        { accept },
      )
      // Items of a list do not say what they are.
      yield {
        items: (items ?? []).map((item) => ({ ...item, apiVersion: apiVersionOf(of), kind: of.kind })),
        resourceVersion: metadata.resourceVersion,
      }
      from = metadata.continue ?? ''
      if (!from) return
    }
  }

  /** The objects of a list, one by one, read page by page as they are wanted. */
  async *items<T extends KubeObject>(of: Resource<T>, options: PageOptions = {}): AsyncGenerator<T> {
    for await (const page of this.pages(of, options)) yield* page.items
  }

  /**
   * What changes from a version on. Ends when the server ends it; throws a StatusError that the server tells in between
   * (410: list again), and ConnectionLost.
   */
  async *watch<T extends KubeObject>(of: Resource<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
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
      path: `${collectionPath(of, options.namespace)}?${query}`,
      signal,
      accept,
    }
    const answer = await begin(this.#connection, request)
    let rest = ''
    const decoder = new TextDecoder()
    for await (const piece of bodyOf(request, answer)) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const event = parseJson(line) as WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status }
        if (event.type === 'ERROR') throw statusError(event.object)
        yield metadataOnly
          ? { type: event.type, object: { ...event.object, apiVersion: apiVersionOf(of), kind: of.kind } }
          : event
      }
    }
  }

  async create<T extends KubeObject>(of: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.request('POST', withQuery(collectionPath(of, object.metadata.namespace), options), { body: object })
  }

  /** Replaces an object; with a resourceVersion in it only if nobody was faster. */
  async update<T extends KubeObject>(
    of: Resource<T>,
    object: T,
    subresource = '',
    options: WriteOptions = {},
  ): Promise<T> {
    const { namespace = '', name = '', resourceVersion } = object.metadata
    return this.request('PUT', withQuery(objectPath(of, namespace, name, subresource), options), {
      body: object,
      repeatable: resourceVersion !== undefined,
    })
  }

  /** Replaces the status alone. */
  updateStatus<T extends KubeObject>(of: Resource<T>, object: T): Promise<T> {
    return this.update(of, object, 'status')
  }

  async patch<T extends KubeObject>(
    of: Resource<T>,
    namespace: string,
    name: string,
    patch: object,
    type: PatchType = 'strategic',
    subresource = '',
    options: WriteOptions = {},
  ): Promise<T> {
    return this.request('PATCH', withQuery(objectPath(of, namespace, name, subresource), options), {
      body: patch,
      contentType: patchTypes[type],
    })
  }

  /** Creates something under an object, such as an eviction, a binding or a token. */
  async createUnder<Answer>(
    of: Resource,
    namespace: string,
    name: string,
    subresource: string,
    object: object,
  ): Promise<Answer> {
    return this.request('POST', objectPath(of, namespace, name, subresource), { body: object })
  }

  /**
   * Server-side apply: the object has these fields from now on, as fields of this manager (a name, or options with it).
   */
  async apply<T extends KubeObject>(
    of: Resource<T>,
    object: ApplyConfiguration<T>,
    manager: string | ApplyOptions,
  ): Promise<T> {
    const { force = true, subresource, ...options } = typeof manager === 'string' ? { fieldManager: manager } : manager
    const { namespace = '', name } = object.metadata
    const path = withQuery(objectPath(of, namespace, name, subresource), options, force ? { force: 'true' } : {})
    const body = { ...object, apiVersion: apiVersionOf(of), kind: of.kind }
    return this.request('PATCH', path, { body, contentType: 'application/apply-patch+yaml', repeatable: true })
  }

  async delete(of: Resource, namespace: string, name: string, options: DeleteOptions = {}): Promise<void> {
    // Without its uid, sent twice, it might end one that somebody made in between.
    await this.request('DELETE', objectPath(of, namespace, name), {
      body: deleteBody(options),
      repeatable: options.uid !== undefined,
    })
  }

  /** Deletes all objects of a namespace, or of a selection of them. */
  async deleteCollection(
    of: Resource,
    { namespace, ...selection }: ListOptions,
    options: DeleteOptions = {},
  ): Promise<void> {
    await this.request('DELETE', `${collectionPath(of, namespace)}?${new URLSearchParams(selectors(selection))}`, {
      body: deleteBody(options),
    })
  }

  /**
   * Which Kubernetes the server is (`/version`).
   * @example const { gitVersion } = await client.serverVersion()
   */
  serverVersion(): Promise<ServerVersion> {
    return this.read('/version')
  }

  /** Reads any path, in a representation other than JSON's usual one if `accept` says so. */
  read<T>(path: string, accept?: string): Promise<T> {
    return this.request('GET', path, { accept })
  }

  /**
   * Any call: resolves with its answer, parsed. `repeatable` (reading is, unless said) lets it be sent again when its
   * answer was lost. Rejects with a StatusError that the server told, with ConnectionLost where there is no answer.
   */
  request<T>(
    method: string,
    path: string,
    { body, contentType = 'application/json', accept, repeatable = method === 'GET' }: CallOptions = {},
  ): Promise<T> {
    const content = body && { contentType, body: Buffer.from(writeJson(body)) }
    return complete<T>(
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

const deleteBody = ({ uid, resourceVersion, ...how }: DeleteOptions): object => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
  ...how,
})

function selectors({ fieldSelector, labelSelector }: ListOptions): Record<string, string> {
  return { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) }
}

function withQuery(path: string, { fieldManager, dryRun }: WriteOptions, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    ...(fieldManager && { fieldManager }),
    ...(dryRun && { dryRun: 'All' }),
    ...more,
  }).toString()
  return query ? `${path}?${query}` : path
}
