/**
 * Serves OpenAPI: `/openapi/v3` (index), `/openapi/v3/PATH` (a document per group version) and `/openapi/v2`
 * (everything), as JSON or protobuf. Documents are built in steps on the first request, and cached compressed.
 */

import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gunzip } from 'node:zlib'
import type { ResourceDefinition } from '../../api/resource.ts'
import { writeJson } from '../../lib/exact-json.ts'
import { pauses, runWithPauses } from '../../lib/flow/steps.ts'
import { resourceNotFound } from '../../machinery/status-error.ts'
import type { RemoteDocuments } from '../aggregator/index.ts'
import type { Documents } from '../http/documents.ts'
import type { Request, Response } from '../http/exchange.ts'
import { type DocumentOptions, openapiDocument } from './document.ts'
import { acceptedForm, type DocumentForm, jsonV2, jsonV3, protobufV2, protobufV3 } from './forms.ts'
import { documentPaths, groupVersionPath } from './paths/static-paths.ts'

export interface OpenApiOptions {
  /** `info.version`: `1.36`. */
  readonly version?: string
  /** The release of this server, which is part of the ETags. */
  readonly release?: string
  /** Documents of other servers; a new object after each change. */
  readonly remote?: () => RemoteDocuments
}

export interface OpenApiDocuments {
  /**
   * Returns the handler of an OpenAPI path. It rejects with 404 for unknown documents, with 406 for unsupported forms.
   */
  readonly find: Documents
  /** The paths listed in the index of the server. */
  readonly paths: readonly string[]
}

/**
 * The cached bytes of a document. Large ones are cached in compressed form only: documents of hundreds of custom
 * resources have many megabytes.
 */
type CachedBytes = { readonly plain: Buffer } | { readonly compressed: Buffer }

/** Documents up to this size are not compressed, in bytes. */
const smallBytes = 4096

/** Size of the portions that are compressed at a time, in bytes. */
const portionBytes = 65_536

const decompress = promisify(gunzip)

const hashOf = (content: string): string => createHash('sha512').update(content).digest('hex').toUpperCase()

async function toCached(pieces: readonly Buffer[]): Promise<CachedBytes> {
  if (pieces.reduce((sum, { length }) => sum + length, 0) <= smallBytes) return { plain: Buffer.concat(pieces) }
  return { compressed: await pipeline(portions(pieces), createGzip({ level: 1 }), buffer) }
}

function* portions(pieces: readonly Buffer[]): Generator<Buffer> {
  let portion: Buffer[] = []
  let bytes = 0
  for (const piece of pieces) {
    portion.push(piece)
    bytes += piece.length
    if (bytes < portionBytes) continue
    yield Buffer.concat(portion, bytes)
    portion = []
    bytes = 0
  }
  yield Buffer.concat(portion, bytes)
}

/** A document with its ETag. */
interface Document {
  readonly tag: string
  readonly contentType: string
  readonly bytes: () => Promise<CachedBytes>
}

async function respond(
  request: Request,
  { tag, contentType, bytes }: Document,
  headers: Record<string, string> = {},
): Promise<Response> {
  const shared = { etag: `"${tag}"`, vary: 'Accept', ...headers }
  if (request.header('if-none-match') === shared.etag) return { status: 304, headers: shared }
  const content = await bytes()
  const described = { 'content-type': contentType, ...shared }
  if ('plain' in content) return { status: 200, headers: described, body: content.plain }
  if (!/\bgzip\b/.test(request.header('accept-encoding') ?? ''))
    return { status: 200, headers: described, body: await decompress(content.compressed) }
  return { status: 200, headers: { ...described, 'content-encoding': 'gzip' }, body: content.compressed }
}

const keyOf = ({ contentType }: DocumentForm, tag: string): string => `${contentType} ${tag}`

type Versions = Required<Pick<OpenApiOptions, 'version' | 'release'>>

/** Documents of one state of the resources. */
class Snapshot {
  readonly resources: readonly ResourceDefinition[]
  readonly remote: RemoteDocuments | undefined
  readonly #version: string
  readonly #release: string
  readonly #builtIn: readonly ResourceDefinition[]
  readonly #byPath: ReadonlyMap<string, readonly ResourceDefinition[]>
  readonly #hashes: ReadonlyMap<string, string>
  /** By media type and tag. */
  readonly #cache = new Map<string, Promise<CachedBytes>>()
  #v2Inputs: string | undefined
  #index: Document | undefined

  /** Takes over unchanged documents from `before`. */
  constructor(
    resources: readonly ResourceDefinition[],
    remote: RemoteDocuments | undefined,
    { version, release }: Versions,
    before?: Snapshot,
  ) {
    this.resources = resources
    this.remote = remote
    this.#version = version
    this.#release = release
    this.#builtIn = resources.filter(({ custom }) => !custom)
    this.#byPath = Map.groupBy(resources, groupVersionPath)
    const hashOfPath = (path: string): string =>
      (before ? before.#sameHash(path, this.#own(path)) : undefined) ?? this.#fingerprint(path)
    this.#hashes = new Map(documentPaths(resources).map((path) => [path, hashOfPath(path)]))
    if (!before) return
    const currentKeys = new Set([jsonV2, protobufV2].map((form) => keyOf(form, this.#wholeTag(form))))
    for (const hash of this.#hashes.values())
      for (const form of [jsonV3, protobufV3]) currentKeys.add(keyOf(form, hash))
    for (const [key, document] of before.#cache) if (currentKeys.has(key)) this.#cache.set(key, document)
  }

  #own(path: string): readonly ResourceDefinition[] {
    return this.#byPath.get(path) ?? []
  }

  #sameHash(path: string, own: readonly ResourceDefinition[]): string | undefined {
    const before = this.#own(path)
    return before.length === own.length && before.every((resource, i) => resource === own[i])
      ? this.#hashes.get(path)
      : undefined
  }

  /** A hash of the inputs of a document: changes with the document, and costs far less than building it. */
  #fingerprint(path: string): string {
    const shape = this.#own(path).map((resource) => [
      resource.kind,
      resource.plural,
      resource.scope,
      resource.verbs,
      resource.subresources,
      resource.listKind,
      resource.custom?.fingerprint,
    ])
    return hashOf(writeJson([path, this.#version, this.#release, shape]))
  }

  #wholeTag({ contentType }: DocumentForm): string {
    this.#v2Inputs ??= [
      ...this.#hashes.values(),
      this.remote?.openapiV2.length ? hashOf(JSON.stringify(this.remote.openapiV2)) : '',
    ].join()
    return hashOf(`${contentType} ${this.#v2Inputs}`)
  }

  hash(path: string): string | undefined {
    return this.#hashes.get(path)
  }

  index(): Document {
    return (this.#index ??= this.#makeIndex())
  }

  #makeIndex(): Document {
    const own = [...this.#hashes].map(([path, hash]): [string, string] => [path, `/openapi/v3/${path}?hash=${hash}`])
    const all = [...own, ...Object.entries(this.remote?.openapiV3 ?? {})].sort(([a], [b]) => (a < b ? -1 : 1))
    const text = JSON.stringify({
      paths: Object.fromEntries(all.map(([path, serverRelativeURL]) => [path, { serverRelativeURL }])),
    })
    const tag = hashOf(text)
    return { tag, contentType: 'application/json', bytes: () => this.#once(tag, () => toCached([Buffer.from(text)])) }
  }

  /** Both forms have the same tag, because `hash` in the URL is for both. */
  v3(path: string, tag: string, form: DocumentForm): Document {
    return this.#document(tag, form, { paths: [path], resources: this.#own(path), others: [] })
  }

  v2(form: DocumentForm): Document {
    return this.#document(this.#wholeTag(form), form, {
      paths: [...this.#hashes.keys()],
      resources: this.resources,
      others: this.remote?.openapiV2 ?? [],
    })
  }

  #document(tag: string, form: DocumentForm, shown: Pick<DocumentOptions, 'paths' | 'resources' | 'others'>): Document {
    const options = { ...shown, builtIn: this.#builtIn, version: this.#version }
    return {
      tag,
      contentType: form.contentType,
      bytes: () =>
        this.#once(keyOf(form, tag), async () =>
          toCached(await runWithPauses(openapiDocument(options, form), pauses())),
        ),
    }
  }

  #once(key: string, make: () => Promise<CachedBytes>): Promise<CachedBytes> {
    let made = this.#cache.get(key)
    if (!made) {
      made = make()
      this.#cache.set(key, made)
      // A failed build is retried on the next request.
      made.catch(() => this.#cache.delete(key))
    }
    return made
  }
}

/** OpenAPI of the resources: an array, or a function that returns a new array after each change. */
export function openapiDocuments(
  resources: readonly ResourceDefinition[] | (() => readonly ResourceDefinition[]),
  { version = '1.36', release = '', remote }: OpenApiOptions = {},
): OpenApiDocuments {
  const current = typeof resources === 'function' ? resources : () => resources
  let snapshot: Snapshot | undefined
  const fresh = (): Snapshot => {
    const now = current()
    const others = remote?.()
    if (snapshot?.resources !== now || snapshot.remote !== others)
      snapshot = new Snapshot(now, others, { version, release }, snapshot)
    return snapshot
  }

  const document = async (request: Request, path: string): Promise<Response> => {
    const state = fresh()
    const hash = state.hash(path)
    if (hash === undefined) throw resourceNotFound()
    const form = acceptedForm(request.header('accept'), 'v3')
    const requestedHash = request.query.get('hash')
    if (requestedHash && requestedHash !== hash)
      return { status: 301, headers: { location: `/openapi/v3/${path}?hash=${hash}` } }
    // A document with its hash in the URL never changes.
    const headers: Record<string, string> = requestedHash
      ? { 'cache-control': 'public, immutable', expires: new Date(Date.now() + 365 * 86_400_000).toUTCString() }
      : {}
    return respond(request, state.v3(path, hash, form), headers)
  }

  const respondV2 = async (request: Request): Promise<Response> =>
    respond(request, fresh().v2(acceptedForm(request.header('accept'), 'v2')))

  const find: Documents = (requestPath) => {
    const path = requestPath.replace(/\/$/, '')
    if (path === '/openapi/v2') return respondV2
    if (path === '/openapi/v3') return (request) => respond(request, fresh().index())
    return path.startsWith('/openapi/v3/')
      ? (request) => document(request, path.slice('/openapi/v3/'.length))
      : undefined
  }

  return { find, paths: ['/openapi/v2', '/openapi/v3', '/openapi/v3/'] }
}
