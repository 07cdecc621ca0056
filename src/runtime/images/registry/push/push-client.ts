/** Writes blobs and manifests of one repository (OCI distribution specification 1.1). */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Digest } from '../../formats/digest.ts'
import type { Descriptor } from '../../formats/manifest.ts'
import { ImageError } from '../../image-error.ts'
import type { AuthorizedExchange } from '../transport/authorized-exchange.ts'
import type { ExchangeRequest } from '../transport/http-exchange.ts'
import { registryError } from '../transport/registry-error.ts'

export interface PushRepository {
  /** Origin and the path of the API: `https://registry.test/v2`. */
  readonly url: string
  /** The path: `team/app`. */
  readonly path: string
}

export class PushClient {
  readonly #exchange: AuthorizedExchange
  readonly #repository: PushRepository

  constructor(exchange: AuthorizedExchange, repository: PushRepository) {
    this.#exchange = exchange
    this.#repository = repository
  }

  /** True if the repository has the blob. */
  async hasBlob(digest: Digest, signal?: AbortSignal): Promise<boolean> {
    const response = await this.#send('HEAD', this.#url(`blobs/${digest}`), { signal })
    response.resume()
    if (response.statusCode === 200) return true
    if (response.statusCode === 404) return false
    throw await this.#failed(response, 'HEAD', digest)
  }

  /**
   * Begins an upload and returns its address; undefined if the registry has taken the blob from `from`, another of its
   * repositories.
   */
  async beginUpload(digest: Digest, from: string | undefined, signal?: AbortSignal): Promise<string | undefined> {
    const query = from === undefined ? '' : `?${new URLSearchParams({ mount: digest, from })}`
    const url = this.#url(`blobs/uploads/${query}`)
    const scopes = from === undefined ? [] : [`repository:${from}:pull`]
    const response = await this.#send('POST', url, { headers: { 'content-length': '0' }, signal }, scopes)
    if (response.statusCode === 201 || response.statusCode === 202) {
      response.resume()
      return response.statusCode === 201 ? undefined : addressOf(url, response)
    }
    throw await this.#failed(response, 'POST', digest)
  }

  /** Uploads a blob in one request. */
  async upload(
    address: string,
    { digest, size }: Pick<Descriptor, 'digest' | 'size'>,
    content: () => Readable,
    signal?: AbortSignal,
  ): Promise<void> {
    const url = new URL(address)
    url.searchParams.set('digest', digest)
    const headers = { 'content-type': 'application/octet-stream', 'content-length': String(size) }
    const response = await this.#send('PUT', url.href, { headers, body: content, signal })
    if (response.statusCode !== 201) throw await this.#failed(response, 'PUT', digest)
    response.resume()
  }

  /** Makes a tag or digest mean the manifest. */
  async putManifest(reference: string, mediaType: string, bytes: Buffer, signal?: AbortSignal): Promise<void> {
    const headers = { 'content-type': mediaType, 'content-length': String(bytes.length) }
    const response = await this.#send('PUT', this.#url(`manifests/${reference}`), { headers, body: bytes, signal })
    if (response.statusCode !== 201) throw await this.#failed(response, 'PUT', reference)
    response.resume()
  }

  #url(path: string): string {
    const { url, path: repository } = this.#repository
    return `${url}/${repository}/${path}`
  }

  #send(
    method: ExchangeRequest['method'],
    url: string,
    options: Partial<ExchangeRequest>,
    otherScopes: readonly string[] = [],
  ): Promise<IncomingMessage> {
    const scope = [`repository:${this.#repository.path}:pull,push`, ...otherScopes].join(' ')
    return this.#exchange.send({ headers: {}, ...options, method, url, scope })
  }

  #failed(response: IncomingMessage, method: string, name: string): Promise<ImageError> {
    return registryError(response, { url: this.#url(''), method, name: `${this.#repository.path}: ${name}` })
  }
}

/** Relative addresses are those of the registry. Tokens must not go to another host. */
function addressOf(url: string, response: IncomingMessage): string {
  const address = URL.parse(response.headers.location ?? '', url)
  if (address?.origin !== new URL(url).origin)
    throw new ImageError('Unavailable', `${url} wants uploads at ${address?.origin ?? 'no address'}, another host`)
  return address.href
}
