/** Reads and writes objects of any kind over the API. Refusals are StatusErrors, as the server told them. */
import type { KubeObject } from '../machinery/object.ts'
import { type Status, StatusError } from '../machinery/status-error.ts'
import type { ClientAnswer, ClientRequest, Connection } from './connection.ts'
import { apiVersionOf, collectionPath, objectPath, type Resource } from './resource.ts'

export interface ListOptions {
  readonly namespace?: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
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
}

export interface DeleteOptions {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
}

/** How a patch is written (RFC 6902, RFC 7386, and Kubernetes' own that knows lists by their keys). */
export type PatchType = 'json' | 'merge' | 'strategic'

const patchTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

const pageSize = 500

export class RestClient {
  readonly #connection: Connection
  readonly #token: string | undefined

  /** Several clients, of several users, may share a connection: `token` says who asks. */
  constructor(connection: Connection, token?: string) {
    this.#connection = connection
    this.#token = token
  }

  get<T extends KubeObject>(of: Resource<T>, namespace: string, name: string): Promise<T> {
    return this.#call('GET', objectPath(of, namespace, name))
  }

  /** Reads what is no object of a kind: discovery, metrics. `path` is with its query. */
  read<Answer>(path: string): Promise<Answer> {
    return this.#call('GET', path)
  }

  /** All objects, in pages. */
  async list<T extends KubeObject>(of: Resource<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const items: T[] = []
    for (let from = ''; ; ) {
      const query = new URLSearchParams({ ...selectors(options), limit: `${pageSize}`, ...(from && { continue: from }) })
      const page = await this.#call<{ items: T[]; metadata: { resourceVersion: string; continue?: string } }>(
        'GET',
        `${collectionPath(of, options.namespace)}?${query}`,
      )
      // Items of a list do not say what they are.
      for (const item of page.items) items.push({ ...item, apiVersion: apiVersionOf(of), kind: of.kind })
      from = page.metadata.continue ?? ''
      if (!from) return { items, resourceVersion: page.metadata.resourceVersion }
    }
  }

  /** What changes from a version on. Ends when the server ends it; throws a StatusError that the server tells in between (410: list again). */
  async *watch<T extends KubeObject>(of: Resource<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const query = new URLSearchParams({ ...selectors(options), watch: '1', allowWatchBookmarks: 'true', resourceVersion: options.resourceVersion })
    const { status, stream } = await this.#send({ method: 'GET', path: `${collectionPath(of, options.namespace)}?${query}`, signal: options.signal })
    if (status !== 200) throw refusal(status, await read(stream))
    let rest = ''
    stream.setEncoding('utf8')
    for await (const piece of stream) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const event = JSON.parse(line) as WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status }
        if (event.type === 'ERROR') throw statusError(event.object)
        yield event
      }
    }
  }

  create<T extends KubeObject>(of: Resource<T>, object: T): Promise<T> {
    return this.#call('POST', collectionPath(of, object.metadata.namespace), object)
  }

  /** Replaces an object; with a resourceVersion in it only if nobody was faster. */
  update<T extends KubeObject>(of: Resource<T>, object: T, subresource = ''): Promise<T> {
    const { namespace = '', name = '' } = object.metadata
    return this.#call('PUT', objectPath(of, namespace, name, subresource), object)
  }

  /** Replaces the status alone. */
  updateStatus<T extends KubeObject>(of: Resource<T>, object: T): Promise<T> {
    return this.update(of, object, 'status')
  }

  patch<T extends KubeObject>(of: Resource<T>, namespace: string, name: string, patch: object, type: PatchType = 'strategic', subresource = ''): Promise<T> {
    return this.#call('PATCH', objectPath(of, namespace, name, subresource), patch, patchTypes[type])
  }

  /** Creates something under an object, such as an eviction, a binding or a token. */
  createUnder<Answer>(of: Resource, namespace: string, name: string, subresource: string, object: object): Promise<Answer> {
    return this.#call('POST', objectPath(of, namespace, name, subresource), object)
  }

  /** Server-side apply as `manager`, over the conflicts of others. */
  apply<T extends KubeObject>(of: Resource<T>, object: T, manager: string): Promise<T> {
    const { namespace = '', name = '' } = object.metadata
    const query = new URLSearchParams({ fieldManager: manager, force: 'true' })
    return this.#call('PATCH', `${objectPath(of, namespace, name)}?${query}`, object, 'application/apply-patch+yaml')
  }

  async delete(of: Resource, namespace: string, name: string, options: DeleteOptions = {}): Promise<void> {
    await this.#call('DELETE', objectPath(of, namespace, name), deleteBody(options))
  }

  /** Deletes all objects of a namespace, or of a selection of them. */
  async deleteCollection(of: Resource, { namespace, ...selection }: ListOptions, options: DeleteOptions = {}): Promise<void> {
    await this.#call('DELETE', `${collectionPath(of, namespace)}?${new URLSearchParams(selectors(selection))}`, deleteBody(options))
  }

  #send(request: ClientRequest): Promise<ClientAnswer> {
    return this.#connection.send({ ...request, token: this.#token })
  }

  async #call<T>(method: string, path: string, body?: object, contentType = 'application/json'): Promise<T> {
    const { status, stream } = await this.#send({ method, path, ...(body && { contentType, body: Buffer.from(JSON.stringify(body)) }) })
    const answer = await read(stream)
    if (status >= 300) throw refusal(status, answer)
    return JSON.parse(answer) as T
  }
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

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const statusError = ({ code = 500, reason, message = '', details }: Status): StatusError => new StatusError(code, reason, message, details)

function refusal(status: number, body: string): StatusError {
  try {
    const told = JSON.parse(body) as Partial<Status>
    if (told.kind === 'Status') return statusError({ ...(told as Status), code: told.code ?? status })
  } catch {
    // Not everything that answers is an API server.
  }
  return new StatusError(status, undefined, body.slice(0, 1024) || `the server answered ${status}`)
}
