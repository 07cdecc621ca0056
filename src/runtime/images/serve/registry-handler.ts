/**
 * A small registry on an image store (OCI distribution 1.1): pulls, pushes, tags and referrers, without logins. For
 * tests, and for machines without a network.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf } from '../../../lib/message-of.ts'
import { type Digest, isDigest } from '../formats/digest.ts'
import { decodeManifest, maxManifestBytes } from '../formats/manifest.ts'
import { mediaTypes } from '../formats/media-types.ts'
import { hostPlatform } from '../formats/platform.ts'
import { ImageError } from '../image-error.ts'
import { readBody } from '../registry/transport/http-exchange.ts'
import { addManifest } from '../store/add-manifest.ts'
import type { ImageStore } from '../store/image-store.ts'
import type { Lease } from '../store/leases.ts'
import { respondError } from './registry-responses.ts'
import { findTarget, pushedName, tagsOf } from './served-names.ts'
import { Uploads } from './uploads.ts'

export interface RegistryHandlerOptions {
  readonly store: ImageStore
  /** Protects what has been pushed until its manifest arrives. */
  readonly lease: Lease
  /** False rejects pushes. */
  readonly isWritable: boolean
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>

const repositoryPattern = /^\/v2\/([a-z0-9]+(?:[._/-]+[a-z0-9]+)*)\/(manifests|blobs|tags|referrers)\/(.+)$/

/** Returns a listener for `http.createServer`. */
export function registryHandler(
  options: RegistryHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const uploads = new Uploads(options.store, options.lease)
  const handle: Answer = async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://registry')
    const [, repository = '', kind, rest = ''] = repositoryPattern.exec(url.pathname) ?? []
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    response.setHeader('docker-distribution-api-version', 'registry/2.0')
    if (/^\/v2\/?$/.test(url.pathname) && isRead)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    else if (!isRead && !options.isWritable) respondError(response, 405, 'UNSUPPORTED', 'this registry is read-only')
    else if (kind === 'manifests') await manifests(options, { request, response, url, repository, reference: rest })
    else if (kind === 'blobs' && /^uploads(?:\/|$)/.test(rest)) await uploads.handle(request, response, url, repository)
    else if (kind === 'blobs' && isRead) sendBlob(options.store, rest, request, response)
    else if (kind === 'tags' && rest === 'list' && isRead) sendTags(options.store, repository, response)
    else if (kind === 'referrers' && isRead)
      sendJson(response, { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [] }, mediaTypes.index)
    else if (url.pathname === '/v2/_catalog' && isRead) sendCatalog(options.store, response)
    else respondError(response, kind ? 405 : 404, kind ? 'UNSUPPORTED' : 'NAME_UNKNOWN', 'no such resource')
  }
  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else if (error instanceof ImageError && error.code !== 'Unknown')
        respondError(response, error.code === 'NotFound' ? 404 : 400, 'MANIFEST_INVALID', error.message)
      else respondError(response, 500, 'UNKNOWN', messageOf(error))
    })
  }
}

interface ManifestRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly repository: string
  readonly reference: string
}

async function manifests(options: RegistryHandlerOptions, asked: ManifestRequest): Promise<void> {
  const { request, response, url, repository, reference } = asked
  const { store } = options
  if (request.method === 'PUT') return putManifest(options, asked)
  const target = findTarget(store, { repository, reference, registry: url.searchParams.get('ns') ?? undefined })
  if (!target || !store.blobs.has(target)) {
    respondError(response, 404, 'MANIFEST_UNKNOWN', `manifest ${reference} of ${repository} is not known`)
    return
  }
  const bytes = store.blobs.read(target, maxManifestBytes)
  if (request.method === 'DELETE') {
    await store.untag(pushedName(repository, reference))
    response.writeHead(202).end()
    return
  }
  const { mediaType } = JSON.parse(bytes.toString()) as { readonly mediaType?: string }
  const { kind } = decodeManifest(bytes)
  response.writeHead(200, {
    'content-type': mediaType ?? (kind === 'index' ? mediaTypes.index : mediaTypes.manifest),
    'content-length': bytes.length,
    'docker-content-digest': target,
  })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}

async function putManifest(
  { store, lease }: RegistryHandlerOptions,
  { request, response, repository, reference }: ManifestRequest,
): Promise<void> {
  const bytes = await readBody(request, maxManifestBytes)
  const manifest = decodeManifest(bytes, request.headers['content-type'])
  const needed = manifest.kind === 'index' ? manifest.manifests : [manifest.config, ...manifest.layers]
  const missing = needed.find(({ digest }) => !store.blobs.has(digest))
  if (missing && manifest.kind === 'manifest') {
    respondError(response, 404, 'MANIFEST_BLOB_UNKNOWN', `blob ${missing.digest} is not known`)
    return
  }
  const digest = await store.blobs.put(bytes)
  if (isDigest(reference) && reference !== digest) {
    respondError(response, 400, 'DIGEST_INVALID', `the manifest has the digest ${digest}`)
    return
  }
  await lease.add([digest])
  // Images of other platforms are a part of their index; it names one that runs here.
  await addManifest(store, digest, [pushedName(repository, reference)], hostPlatform())
  const location = `/v2/${repository}/manifests/${digest}`
  response.writeHead(201, { location, 'docker-content-digest': digest }).end()
}

function sendBlob(store: ImageStore, digest: Digest, request: IncomingMessage, response: ServerResponse): void {
  if (!isDigest(digest) || !store.blobs.has(digest)) {
    respondError(response, 404, 'BLOB_UNKNOWN', `blob ${digest} is not known`)
    return
  }
  const size = store.blobs.size(digest)
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  const headers = {
    'content-type': 'application/octet-stream',
    'docker-content-digest': digest,
    'accept-ranges': 'bytes',
  }
  if (first === undefined) {
    response.writeHead(200, { ...headers, 'content-length': size })
    send(store, digest, request, response, { start: 0 })
    return
  }
  const start = Number(first)
  const end = Math.min(last ? Number(last) : size - 1, size - 1)
  if (start > end) {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end()
    return
  }
  response.writeHead(206, {
    ...headers,
    'content-length': end - start + 1,
    'content-range': `bytes ${start}-${end}/${size}`,
  })
  send(store, digest, request, response, { start, end })
}

function send(
  store: ImageStore,
  digest: Digest,
  request: IncomingMessage,
  response: ServerResponse,
  range: { readonly start: number; readonly end?: number },
): void {
  if (request.method === 'HEAD') response.end()
  else {
    const body = store.blobs.stream(digest, range)
    body.on('error', () => response.destroy())
    response.on('close', () => body.destroy())
    body.pipe(response)
  }
}

function sendTags(store: ImageStore, repository: string, response: ServerResponse): void {
  const tags = tagsOf(store, repository)
  if (tags.length === 0) respondError(response, 404, 'NAME_UNKNOWN', `repository ${repository} is not known`)
  else sendJson(response, { name: repository, tags })
}

function sendCatalog(store: ImageStore, response: ServerResponse): void {
  const paths = store
    .list()
    .flatMap(({ tags }) => tags.map((tag) => tag.replace(/^[^/]+\//, '').replace(/:[^:]*$/, '')))
  sendJson(response, { repositories: [...new Set(paths)].sort() })
}

const sendJson = (response: ServerResponse, value: unknown, type = 'application/json'): void =>
  void response.writeHead(200, { 'content-type': type }).end(JSON.stringify(value))
