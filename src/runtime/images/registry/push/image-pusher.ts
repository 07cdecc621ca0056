/** Pushes images of the store to registries. */
import { Readable } from 'node:stream'
import type { Digest } from '../../formats/digest.ts'
import { maxManifestBytes, parseObject, textOf } from '../../formats/manifest.ts'
import { mediaTypes } from '../../formats/media-types.ts'
import { invalidReference } from '../../image-error.ts'
import type { ImageStore } from '../../store/image-store.ts'
import type { StoredImage } from '../../stored-image.ts'
import { mapLimited } from '../map-limited.ts'
import type { BlobProgress } from '../pull/download-blob.ts'
import { type ImageSource, imageSource } from '../pull/repository-source.ts'
import { AuthorizedExchange } from '../transport/authorized-exchange.ts'
import { Authorizer, type RegistryLogin } from '../transport/authorizer.ts'
import { type ExchangeOptions, HttpExchange } from '../transport/http-exchange.ts'
import { registryHosts } from '../transport/registry-hosts.ts'
import { type RetryOptions, withRetries } from '../transport/retry.ts'
import { PushClient } from './push-client.ts'

export interface PusherOptions extends ExchangeOptions {
  readonly store: ImageStore
  /** Registries without TLS. Those on loopback addresses need not be named. */
  readonly insecure?: readonly string[]
  readonly retries?: Omit<RetryOptions, 'signal'>
}

export interface PushOptions {
  /** Default: none, anonymous. */
  readonly login?: RegistryLogin
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: BlobProgress) => void
}

/** The result of a push. */
export interface PushedImage {
  /** Registry, repository and digest. */
  readonly name: string
  /** Blobs that the repository had, or took from another one. */
  readonly presentBlobs: number
  readonly uploadedBlobs: number
}

type Blob = Pick<StoredImage['layers'][number], 'digest' | 'size'>

/** Layers of one push that are uploaded at the same time. */
const maxParallel = 3

export class ImagePusher {
  readonly #options: PusherOptions
  readonly #exchange: HttpExchange

  constructor(options: PusherOptions) {
    this.#options = options
    this.#exchange = new HttpExchange(options)
  }

  /**
   * Pushes the image of a name or ID to the name `target`. Blobs that the registry has are not sent. Rejects with an
   * ImageError.
   */
  async push(reference: string, target: string, options: PushOptions = {}): Promise<PushedImage> {
    const { store } = this.#options
    const { login, signal } = options
    const to = imageSource(target)
    if (to.name.includes('@')) throw invalidReference(`${target} has a digest: push to a name with a tag`)
    const image = store.get(reference)
    const lease = store.lease()
    try {
      const config = { digest: image.id, size: store.blobs.size(image.id) }
      const layers = [...new Map(image.layers.map((layer) => [layer.digest, layer])).values()]
      await lease.add([image.manifest, image.id, ...layers.map(({ digest }) => digest)])
      const authorizer = new Authorizer({ exchange: this.#exchange, login, now: () => Date.now() })
      const [host] = registryHosts(to.registry, { insecure: this.#options.insecure ?? [] })
      const client = new PushClient(new AuthorizedExchange(this.#exchange, authorizer), {
        url: host!.url,
        path: to.path,
      })
      let uploadedBlobs = 0
      const send = async (blob: Blob, by: AbortSignal): Promise<void> => {
        if (await this.#send(client, blob, to, { ...options, signal: by })) uploadedBlobs++
      }
      await mapLimited([config, ...layers], maxParallel, send, signal)
      const bytes = store.blobs.read(image.manifest, maxManifestBytes)
      const mediaType = textOf(parseObject(bytes, 'the manifest').mediaType) || mediaTypes.manifest
      await this.#retried(signal, () => client.putManifest(to.reference, mediaType, bytes, signal))
      const presentBlobs = layers.length + 1 - uploadedBlobs
      return { name: `${to.repository}@${image.manifest}`, presentBlobs, uploadedBlobs }
    } finally {
      lease.release()
    }
  }

  close(): void {
    this.#exchange.close()
  }

  /** Returns false if the registry has the blob. */
  #send(client: PushClient, blob: Blob, to: ImageSource, { signal, onProgress }: PushOptions): Promise<boolean> {
    const { digest, size } = blob
    return this.#retried(signal, async () => {
      const report = (received: number): void => onProgress?.({ digest, received, size, isDone: received === size })
      if (await client.hasBlob(digest, signal)) {
        report(size)
        return false
      }
      const address = await client.beginUpload(digest, this.#otherRepository(digest, to), signal)
      if (address !== undefined) await client.upload(address, blob, () => this.#content(digest, report), signal)
      report(size)
      return address !== undefined
    })
  }

  #retried<Result>(signal: AbortSignal | undefined, attempt: () => Promise<Result>): Promise<Result> {
    return withRetries(attempt, { ...this.#options.retries, signal })
  }

  #content(digest: Digest, report: (sent: number) => void): Readable {
    const source = this.#options.store.blobs.stream(digest)
    const counted = async function* (): AsyncGenerator<Buffer> {
      let sent = 0
      for await (const chunk of source as AsyncIterable<Buffer>) {
        sent += chunk.length
        report(sent)
        yield chunk
      }
    }
    return Readable.from(counted(), { objectMode: false })
  }

  /** The path of another repository of the registry that probably has the blob: its image is here. */
  #otherRepository(digest: Digest, { registry, path }: ImageSource): string | undefined {
    for (const { id, tags, digests, layers } of this.#options.store.list()) {
      if (id !== digest && !layers.some((layer) => layer.digest === digest)) continue
      for (const name of [...digests, ...tags]) {
        const other = imageSource(name)
        if (other.registry === registry && other.path !== path) return other.path
      }
    }
    return undefined
  }
}
