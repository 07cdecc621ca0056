/** A registry for tests, whose answers tests can change: login, tokens, faults and redirects. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Digest, digestOf } from '../formats/digest.ts'
import { mediaTypes } from '../formats/media-types.ts'

export interface FakeRegistry {
  /** Such as `127.0.0.1:40000`. */
  readonly host: string
  readonly requests: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] }[]
  readonly blobs: Map<Digest, Buffer>
  /** Manifests by tag or digest. */
  readonly manifests: Map<string, { readonly mediaType: string; readonly bytes: Buffer }>
  /** Answers instead of the registry if it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Adds an image by a tag. Returns the digest of its manifest. */
  addImage(tag: string, layers: readonly Buffer[], platform?: Record<string, string>): Digest
  put(tag: string, mediaType: string, document: unknown): Digest
}

export async function fakeRegistry(t: TestContext): Promise<FakeRegistry> {
  const requests: FakeRegistry['requests'] = []
  const blobs = new Map<Digest, Buffer>()
  const manifests: FakeRegistry['manifests'] = new Map()
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    requests.push({ method, url, headers })
    if (!registry.intercept(request, response)) answer(registry, url, headers.range, response)
  })
  const put: FakeRegistry['put'] = (tag, mediaType, document) => {
    const bytes = Buffer.from(JSON.stringify(document))
    for (const name of [tag, digestOf(bytes)]) manifests.set(name, { mediaType, bytes })
    return digestOf(bytes)
  }
  const store = (mediaType: string, bytes: Buffer) => {
    blobs.set(digestOf(bytes), bytes)
    return { mediaType, digest: digestOf(bytes), size: bytes.length }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const registry: FakeRegistry = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    blobs,
    manifests,
    intercept: () => false,
    put,
    addImage(tag, layers, platform = { os: 'linux', architecture: 'amd64' }) {
      const config = { ...platform, config: { User: '7' }, rootfs: { type: 'layers', diff_ids: layers.map(digestOf) } }
      return put(tag, mediaTypes.manifest, {
        schemaVersion: 2,
        mediaType: mediaTypes.manifest,
        config: store(mediaTypes.config, Buffer.from(JSON.stringify(config))),
        layers: layers.map((layer) => store(mediaTypes.gzipLayer, gzipSync(layer))),
      })
    },
  }
  return registry
}

function answer(
  { manifests, blobs }: FakeRegistry,
  url: string,
  range: string | undefined,
  response: ServerResponse,
): void {
  const [, kind, reference = ''] = /^\/v2\/.+\/(manifests|blobs)\/([^/?]+)/.exec(url) ?? []
  const manifest = kind === 'manifests' ? manifests.get(reference) : undefined
  const blob = kind === 'blobs' ? blobs.get(reference) : undefined
  if (manifest) {
    const { mediaType, bytes } = manifest
    response.writeHead(200, { 'content-type': mediaType, 'docker-content-digest': digestOf(bytes) }).end(bytes)
  } else if (blob) {
    const offset = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
    const headers = offset > 0 ? { 'content-range': `bytes ${offset}-${blob.length - 1}/${blob.length}` } : {}
    response.writeHead(offset > 0 ? 206 : 200, { ...headers, 'content-length': blob.length - offset })
    response.end(blob.subarray(offset))
  } else notFound(response, kind === 'manifests' ? 'MANIFEST_UNKNOWN' : 'BLOB_UNKNOWN')
}

function notFound(response: ServerResponse, code: string): void {
  response.writeHead(404).end(JSON.stringify({ errors: [{ code, message: 'not known' }] }))
}
