/** Reads manifests and blobs of one repository at one host (OCI distribution specification 1.1). */
import type { IncomingMessage } from 'node:http'
import { type Digest, digestOf, isDigest } from '../formats/digest.ts'
import { maxManifestBytes } from '../formats/manifest.ts'
import { acceptedManifests } from '../formats/media-types.ts'
import { corruptContent, ImageError } from '../image-error.ts'
import type { AuthorizedExchange } from './transport/authorized-exchange.ts'
import { readBody } from './transport/http-exchange.ts'
import { registryError } from './transport/registry-error.ts'
import type { RegistryHost } from './transport/registry-hosts.ts'

export interface Repository {
  readonly host: RegistryHost
  /** The registry that a mirror stands for: `registry.test`. */
  readonly registry: string
  /** The path: `library/busybox`. */
  readonly path: string
}

export interface ReceivedManifest {
  readonly bytes: Buffer
  readonly digest: Digest
  readonly mediaType: string
}

export interface BlobResponse {
  readonly body: IncomingMessage
  /** True if the body begins at the requested offset, false if it is the complete blob. */
  readonly isPartial: boolean
}

export class RegistryClient {
  readonly #exchange: AuthorizedExchange
  readonly repository: Repository

  constructor(exchange: AuthorizedExchange, repository: Repository) {
    this.#exchange = exchange
    this.repository = repository
  }

  /** Reads a manifest by tag or digest, and verifies it. `name` is the image's in messages. */
  async manifest(reference: string, name: string, signal?: AbortSignal): Promise<ReceivedManifest> {
    const response = await this.#get(`manifests/${reference}`, { accept: acceptedManifests }, name, signal)
    const bytes = await this.#read(response)
    const digest = digestOf(bytes)
    const stated = isDigest(reference) ? reference : response.headers['docker-content-digest']
    if (typeof stated === 'string' && isDigest(stated) && stated !== digest)
      throw corruptContent(`unexpected digest of the manifest: ${digest}, expected ${stated}`)
    return { bytes, digest, mediaType: response.headers['content-type'] ?? '' }
  }

  /** Requests a blob from an offset in bytes. */
  async blob(digest: Digest, offset: number, signal?: AbortSignal): Promise<BlobResponse> {
    const headers: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {}
    const response = await this.#get(`blobs/${digest}`, headers, digest, signal)
    const start = /^bytes (\d+)-/.exec(response.headers['content-range'] ?? '')?.[1]
    const isPartial = response.statusCode === 206
    if (isPartial && Number(start) !== offset) {
      response.destroy()
      throw corruptContent(`the registry answers with bytes from ${start ?? '?'} instead of ${offset}`)
    }
    return { body: response, isPartial }
  }

  async #read(response: IncomingMessage): Promise<Buffer> {
    try {
      return await readBody(response, maxManifestBytes)
    } catch (error) {
      if (error instanceof ImageError) throw error
      throw new ImageError('Unavailable', 'the registry has ended the connection', { cause: error })
    }
  }

  /** Resolves with 200 or 206. Rejects with a RegistryError for another status. */
  async #get(
    path: string,
    headers: Readonly<Record<string, string>>,
    name: string,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage> {
    const { host, registry, path: repository } = this.repository
    const scope = `repository:${repository}:pull`
    // Mirrors of several registries distinguish them by this parameter.
    const query = host.isMirror ? `?ns=${encodeURIComponent(registry)}` : ''
    const url = `${host.url}/${repository}/${path}${query}`
    const response = await this.#exchange.send({ method: 'GET', url, headers, scope, signal })
    if (response.statusCode === 200 || response.statusCode === 206) return response
    throw await registryError(response, { url, method: 'GET', name })
  }
}
