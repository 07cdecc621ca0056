/**
 * Serves OpenAPI: `/openapi/v3` (index), `/openapi/v3/PATH` (a document per group version) and `/openapi/v2` (everything,
 * as JSON or protobuf). Documents are made when they are first asked for.
 */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { ResourceDefinition } from '../../api/resource.ts'
import { resourceNotFound } from '../../machinery/status-error.ts'
import { mergeV2, type RemoteDocuments } from '../aggregator/index.ts'
import type { Request, Response } from '../http/exchange.ts'
import { openapiV2, openapiV3 } from './document.ts'
import { gnosticV2 } from './gnostic.ts'
import { documentPaths, groupVersionPath } from './static-paths.ts'

export { openapiV2, openapiV3 } from './document.ts'
export { gnosticV2 } from './gnostic.ts'

export interface OpenApiOptions {
  /** Stands in `info.version`; `/version`'s gitVersion. */
  readonly version?: string
  /** What other servers add; another object whenever that changes. */
  readonly remote?: () => RemoteDocuments
}

export interface OpenApiDocuments {
  /** Answers requests for OpenAPI; undefined for other paths. Throws 404 for documents that are not there. */
  readonly handle: (request: Request) => Promise<Response> | undefined
  /** The paths that the server's index names. */
  readonly paths: readonly string[]
}

interface Served {
  readonly body: Buffer
  readonly etag: string
  gzip?: Buffer
}

const protobufV2 = /application\/com\.github\.proto-openapi\.spec\.v2(@|\.)v1\.0\+protobuf/

const hashOf = (content: string | Buffer): string => createHash('sha512').update(content).digest('hex').toUpperCase()

const serve = (body: Buffer): Served => ({ body, etag: `"${hashOf(body)}"` })

function respond(request: Request, served: Served, type: string, headers: Record<string, string> = {}): Response {
  const shared = { etag: served.etag, vary: 'Accept', ...headers }
  if (request.header('if-none-match') === served.etag) return { status: 304, headers: shared }
  const compressed = served.body.length > 4096 && /\bgzip\b/.test(request.header('accept-encoding') ?? '')
  if (compressed) served.gzip ??= gzipSync(served.body, { level: 1 })
  return {
    status: 200,
    headers: { 'content-type': type, ...shared, ...(compressed && { 'content-encoding': 'gzip' }) },
    body: compressed ? served.gzip : served.body,
  }
}

/** Documents of one state of the resources. */
class Snapshot {
  readonly resources: readonly ResourceDefinition[]
  readonly remote: RemoteDocuments | undefined
  readonly #options: OpenApiOptions
  readonly #hashes: ReadonlyMap<string, string>
  readonly #made = new Map<string, Served>()

  /** Documents of `before` that are as they were are not made again. */
  constructor(resources: readonly ResourceDefinition[], options: OpenApiOptions, before?: Snapshot) {
    this.resources = resources
    this.remote = options.remote?.()
    this.#options = options
    const byPath = Map.groupBy(resources, groupVersionPath)
    this.#hashes = new Map(documentPaths(resources).map((path) => [path, this.#fingerprint(path, byPath.get(path) ?? [])]))
    for (const [path, hash] of this.#hashes) {
      const made = before?.hash(path) === hash ? before.#made.get(`v3 ${path}`) : undefined
      if (made) this.#made.set(`v3 ${path}`, made)
    }
  }

  get #version(): string {
    return this.#options.version ?? 'v1.36.0'
  }

  /** Changes when the document does, and costs far less than making it: what goes into it. */
  #fingerprint(path: string, own: readonly ResourceDefinition[]): string {
    const shape = own.map((resource) => [
      resource.kind,
      resource.plural,
      resource.scope,
      resource.verbs,
      resource.subresources,
      resource.listKind,
      resource.custom?.fingerprint,
    ])
    return hashOf(JSON.stringify([path, this.#version, shape]))
  }

  hash(path: string): string | undefined {
    return this.#hashes.get(path)
  }

  index(): Served {
    return this.#once('index', () => {
      const own = [...this.#hashes].map(([path, hash]): [string, string] => [path, `/openapi/v3/${path}?hash=${hash}`])
      const all = [...own, ...Object.entries(this.remote?.openapiV3 ?? {})].sort(([a], [b]) => (a < b ? -1 : 1))
      return Buffer.from(JSON.stringify({ paths: Object.fromEntries(all.map(([path, serverRelativeURL]) => [path, { serverRelativeURL }])) }))
    })
  }

  v3(path: string): Served {
    return this.#once(`v3 ${path}`, () => Buffer.from(JSON.stringify(openapiV3(this.resources, path, { version: this.#version }))))
  }

  v2(form: 'json' | 'protobuf'): Served {
    return this.#once(`v2 ${form}`, () => {
      const document = openapiV2(this.resources, [...this.#hashes.keys()], { version: this.#version })
      const merged = this.remote?.openapiV2.length ? mergeV2(document, this.remote.openapiV2) : document
      return form === 'json' ? Buffer.from(JSON.stringify(merged)) : gnosticV2(merged)
    })
  }

  #once(key: string, make: () => Buffer): Served {
    let served = this.#made.get(key)
    if (!served) {
      served = serve(make())
      this.#made.set(key, served)
    }
    return served
  }
}

/** OpenAPI for the resources: an array, or a function that gives a new array whenever resources come or go. */
export function openapiDocuments(
  resources: readonly ResourceDefinition[] | (() => readonly ResourceDefinition[]),
  options: OpenApiOptions = {},
): OpenApiDocuments {
  const current = typeof resources === 'function' ? resources : () => resources
  let snapshot: Snapshot | undefined
  const fresh = (): Snapshot => {
    const now = current()
    if (snapshot?.resources !== now || snapshot.remote !== options.remote?.()) snapshot = new Snapshot(now, options, snapshot)
    return snapshot
  }

  const document = (request: Request, path: string): Response => {
    const state = fresh()
    const hash = state.hash(path)
    if (hash === undefined) throw resourceNotFound()
    const asked = request.query.get('hash')
    if (asked && asked !== hash) return { status: 301, headers: { location: `/openapi/v3/${path}?hash=${hash}` } }
    // A document with its hash in the URL never changes.
    const headers: Record<string, string> = asked
      ? { 'cache-control': 'public, immutable', expires: new Date(Date.now() + 365 * 86_400_000).toUTCString() }
      : {}
    return respond(request, state.v3(path), 'application/json', headers)
  }

  const handle = (request: Request): Promise<Response> | undefined => {
    const path = request.path.replace(/\/$/, '')
    if (path === '/openapi/v2') {
      const protobuf = protobufV2.test(request.header('accept') ?? '')
      return Promise.resolve(
        respond(
          request,
          fresh().v2(protobuf ? 'protobuf' : 'json'),
          protobuf ? 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' : 'application/json',
        ),
      )
    }
    if (path === '/openapi/v3') return Promise.resolve(respond(request, fresh().index(), 'application/json'))
    if (!path.startsWith('/openapi/v3/')) return undefined
    return new Promise((resolve) => resolve(document(request, path.slice('/openapi/v3/'.length))))
  }

  return { handle, paths: ['/openapi/v2', '/openapi/v3', '/openapi/v3/'] }
}
