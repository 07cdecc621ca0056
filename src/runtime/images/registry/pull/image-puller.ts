/** Pulls images from registries into the store. */
import type { Digest } from '../../formats/digest.ts'
import { decodeImageConfig, type ImageConfig, maxConfigBytes } from '../../formats/image-config.ts'
import { type Descriptor, decodeManifest, type Manifest, type Platform } from '../../formats/manifest.ts'
import { chooseManifest, hostPlatform } from '../../formats/platform.ts'
import { corruptContent, ImageError } from '../../image-error.ts'
import { imageRecord } from '../../store/add-manifest.ts'
import type { ImageStore } from '../../store/image-store.ts'
import type { Lease } from '../../store/leases.ts'
import type { StoredImage } from '../../stored-image.ts'
import { mapLimited } from '../map-limited.ts'
import type { RegistryLogin } from '../transport/authorizer.ts'
import { canceled, type ExchangeOptions, HttpExchange } from '../transport/http-exchange.ts'
import type { RegistrySettings } from '../transport/registry-hosts.ts'
import { type RetryOptions, withRetries } from '../transport/retry.ts'
import { type BlobProgress, type DownloadOptions, downloadBlob } from './download-blob.ts'
import { imageSource, RepositorySource } from './repository-source.ts'

export interface PullerOptions extends ExchangeOptions, RegistrySettings {
  readonly store: ImageStore
  /** Layers of one pull that are downloaded at the same time. Default: 3. */
  readonly maxParallel?: number
  readonly retries?: Omit<RetryOptions, 'signal'>
}

export interface PullOptions {
  /** Default: none, anonymous. */
  readonly login?: RegistryLogin
  /** Default: this machine's. */
  readonly platform?: Platform
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: BlobProgress) => void
}

/** An index may point to another index, so deep. */
const maxIndexDepth = 3

interface Resolved {
  /** The document that the name stands for. */
  readonly target: Digest
  readonly digest: Digest
  readonly manifest: Manifest
  /** Bytes of the manifest. */
  readonly size: number
}

export class ImagePuller {
  readonly #options: PullerOptions
  readonly #exchange: HttpExchange

  constructor(options: PullerOptions) {
    this.#options = options
    this.#exchange = new HttpExchange(options)
  }

  /**
   * Pulls an image by name. Rejects with an ImageError in containerd's words: NotFound, InvalidArgument, Canceled,
   * Unavailable, ResourceExhausted, FailedPrecondition for content that does not agree with its digest, or Unknown for
   * a registry that denies access.
   */
  async pull(name: string, options: PullOptions = {}): Promise<StoredImage> {
    const source = imageSource(name)
    const { store } = this.#options
    const lease = store.lease()
    try {
      const { login, signal } = options
      const repository = new RepositorySource(source, {
        exchange: this.#exchange,
        settings: this.#options,
        login,
        signal,
      })
      const resolved = await this.#resolve(repository, source.reference, lease, options).catch(
        explained(`failed to resolve reference ${JSON.stringify(source.name)}: `),
      )
      const config = await this.#download(repository, resolved.manifest, lease, options)
      const names = [...new Set([source.name, `${source.repository}@${resolved.target}`])]
      const { digest, manifest, target, size } = resolved
      const record = imageRecord(digest, manifest, config, size)
      return await store.add({ id: manifest.config.digest, record, names, target })
    } catch (error) {
      const { signal } = options
      return explained(`failed to pull and unpack image ${JSON.stringify(source.name)}: `)(
        signal?.aborted ? canceled(signal) : error,
      )
    } finally {
      lease.release()
    }
  }

  close(): void {
    this.#exchange.close()
  }

  /** Reads the manifest for the platform, through indexes, and stores all documents on the way. */
  async #resolve(
    repository: RepositorySource,
    reference: string,
    lease: Lease,
    { platform = hostPlatform(), signal }: PullOptions,
  ): Promise<Resolved> {
    const { store, retries } = this.#options
    let target: Digest | undefined
    let expected: Descriptor | undefined
    for (let depth = 0; depth <= maxIndexDepth; depth++) {
      const wanted = expected?.digest ?? reference
      const received = await withRetries(() => repository.manifest(wanted), { ...retries, signal })
      if (expected && received.bytes.length !== expected.size)
        throw corruptContent(
          `${expected.digest} has ${received.bytes.length} bytes: its descriptor states ${expected.size}`,
        )
      target ??= received.digest
      const manifest = decodeManifest(received.bytes, expected?.mediaType || received.mediaType)
      await lease.add([received.digest])
      await store.blobs.put(received.bytes)
      if (manifest.kind === 'manifest')
        return { target, digest: received.digest, manifest, size: received.bytes.length }
      expected = chooseManifest(manifest, platform)
    }
    throw corruptContent(`more than ${maxIndexDepth} indexes lead to the manifest`)
  }

  async #download(
    repository: RepositorySource,
    { config, layers }: Manifest,
    lease: Lease,
    { signal, onProgress }: PullOptions,
  ): Promise<ImageConfig> {
    const { store, retries = {}, maxParallel = 3 } = this.#options
    if (config.size > maxConfigBytes) throw corruptContent(`the configuration has ${config.size} bytes`)
    await lease.add([config, ...layers].map(({ digest }) => digest))
    const request: DownloadOptions['request'] = ({ digest }, offset, by) => repository.blob(digest, offset, by)
    const download = (descriptor: Descriptor, by: AbortSignal | undefined) =>
      downloadBlob(descriptor, { blobs: store.blobs, retries, signal: by, onProgress, request })
    await download(config, signal)
    const decoded = decodeImageConfig(store.blobs.read(config.digest, maxConfigBytes))
    // The same layer can occur twice.
    const distinct = [...new Map(layers.map((layer) => [layer.digest, layer])).values()]
    await mapLimited(distinct, maxParallel, download, signal)
    return decoded
  }
}

/** Puts words before the message of an ImageError. */
const explained =
  (words: string) =>
  (error: unknown): never => {
    if (!(error instanceof ImageError)) throw error
    throw new ImageError(error.code, `${words}${error.message}`, { cause: error })
  }
