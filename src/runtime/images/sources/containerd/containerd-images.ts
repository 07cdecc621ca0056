/** The images of a containerd, which are read by its services for images and content. */
import { Content } from '#protobuf/containerd-content_pb.js'
import { Images } from '#protobuf/containerd-images_pb.js'
import { grpcCodeOf } from '../../../../lib/grpc/grpc-error.ts'
import { SocketClient } from '../../../../lib/grpc/socket-client.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import { parseImageName } from '../../../../node/images/image-name.ts'
import { type Digest, decodeDigest } from '../../formats/digest.ts'
import { maxConfigBytes } from '../../formats/image-config.ts'
import { type Descriptor, decodeManifest, maxManifestBytes } from '../../formats/manifest.ts'
import { chooseManifest, hostPlatform } from '../../formats/platform.ts'
import { corruptContent, ImageError, imageNotFound } from '../../image-error.ts'
import { mapLimited } from '../../registry/map-limited.ts'
import { addManifest } from '../../store/add-manifest.ts'
import type { ImageStore } from '../../store/image-store.ts'
import type { Lease } from '../../store/leases.ts'
import type { StoredImage } from '../../stored-image.ts'
import type { HostImages } from '../host-images.ts'

export interface ContainerdOptions {
  readonly store: ImageStore
  /** The path of the socket. */
  readonly socket: string
  /** `k8s.io` has the images of kubelets, `default` those of `ctr`, `moby` those of some Docker engines. */
  readonly namespace: string
}

type Blob = Pick<Descriptor, 'digest' | 'size'>

/** A question about an image is answered from memory. */
const answerMs = 10_000
/** An index may point to another index, so deep. */
const maxDepth = 3
const maxParallel = 3

export class ContainerdImages implements HostImages {
  readonly name: string
  readonly #options: ContainerdOptions
  readonly #client: SocketClient
  readonly #headers: Readonly<Record<string, string>>

  constructor(options: ContainerdOptions) {
    const { socket, namespace } = options
    this.name = `containerd (${socket}, namespace ${namespace})`
    this.#options = options
    this.#client = new SocketClient(`unix://${socket}`)
    this.#headers = { 'containerd-namespace': namespace }
  }

  async digestOf(imageName: string, signal?: AbortSignal): Promise<Digest | undefined> {
    return (await this.#target(imageName, signal))?.digest
  }

  async copy(imageName: string, signal?: AbortSignal): Promise<StoredImage> {
    const { store } = this.#options
    const target = await this.#target(imageName, signal)
    if (!target) throw imageNotFound(imageName)
    const lease = store.lease()
    try {
      const { config, layers } = await this.#manifest(target, lease, signal)
      if (config.size > maxConfigBytes) throw corruptContent(`the configuration has ${config.size} bytes`)
      const blobs = [...new Map([config, ...layers].map((blob) => [blob.digest, blob])).values()]
      await lease.add(blobs.map(({ digest }) => digest))
      await mapLimited(blobs, maxParallel, (blob, by) => this.#copyBlob(blob, by), signal)
      const { repository } = parseImageName(imageName)
      const names = [...new Set([imageName, `${repository}@${target.digest}`])]
      return await addManifest(store, target.digest, names, hostPlatform())
    } finally {
      lease.release()
    }
  }

  close(): void {
    this.#client.close()
  }

  async #target(name: string, signal: AbortSignal | undefined): Promise<Blob | undefined> {
    try {
      const options = { timeoutMs: answerMs, signal, headers: this.#headers }
      const { image } = await this.#client.call(Images.method.get, { name }, options)
      if (!image?.target) return undefined
      return { digest: decodeDigest(image.target.digest, 'the target'), size: Number(image.target.size) }
    } catch (error) {
      if (grpcCodeOf(error) === 'NotFound') return undefined
      throw error
    }
  }

  /** Copies the documents that lead to the manifest of this machine's platform. */
  async #manifest(target: Blob, lease: Lease, signal: AbortSignal | undefined) {
    const { blobs } = this.#options.store
    let wanted = target
    for (let depth = 0; depth <= maxDepth; depth++) {
      if (wanted.size > maxManifestBytes) throw corruptContent(`the manifest has ${wanted.size} bytes`)
      await lease.add([wanted.digest])
      await this.#copyBlob(wanted, signal)
      const manifest = decodeManifest(blobs.read(wanted.digest, maxManifestBytes))
      if (manifest.kind === 'manifest') return manifest
      wanted = chooseManifest(manifest, hostPlatform())
    }
    throw corruptContent(`more than ${maxDepth} indexes lead to the manifest`)
  }

  async #copyBlob({ digest, size }: Blob, signal: AbortSignal | undefined): Promise<void> {
    const { blobs } = this.#options.store
    if (blobs.has(digest)) return
    const ingest = await blobs.ingest(digest, size)
    try {
      const request = { digest, offset: BigInt(ingest.offset) }
      if (ingest.offset < size || size === 0)
        for await (const { data } of this.#client.stream(Content.method.read, request, {
          signal,
          headers: this.#headers,
        }))
          ingest.write(data)
      ingest.commit()
    } catch (error) {
      if (error instanceof ImageError) throw error
      // A containerd may discard layers that it has unpacked.
      const isMissing = grpcCodeOf(error) === 'NotFound'
      throw new ImageError(isMissing ? 'NotFound' : 'Unavailable', `${this.name}: ${messageOf(error)}`, {
        cause: error,
      })
    } finally {
      ingest.suspend()
    }
  }
}
