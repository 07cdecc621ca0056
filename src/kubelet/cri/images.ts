/** The image service of the container runtime, through CRI. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import { type AuthConfigSchema, type Image, type ImageFsInfoResponse, ImageService } from '#protobuf/cri-images_pb.js'
import { type ClientSettings, ObservedClient } from './observed-client.ts'
import type { SandboxConfig } from './runtime.ts'

export type ImageCredentials = MessageInitShape<typeof AuthConfigSchema>

const defaultTimeoutMs = 120_000

const { method } = ImageService

/** All methods reject with a GrpcError. */
export class CriImages {
  readonly #client: ObservedClient
  readonly #timeoutMs: number

  constructor(endpoint: string, settings: ClientSettings = {}) {
    this.#client = new ObservedClient(endpoint, settings)
    this.#timeoutMs = settings.timeoutMs ?? defaultTimeoutMs
  }

  async all(): Promise<Image[]> {
    return (await this.#client.call(method.listImages, {}, { timeoutMs: this.#timeoutMs })).images
  }

  /** Undefined if the image is not present. */
  async find(image: string): Promise<Image | undefined> {
    return (await this.#client.call(method.imageStatus, { image: { image } }, { timeoutMs: this.#timeoutMs })).image
  }

  /** Returns the ID of the image. A pull has no time limit; `signal` cancels it. */
  async pull(
    image: string,
    auth: ImageCredentials | undefined,
    sandboxConfig: SandboxConfig,
    signal?: AbortSignal,
  ): Promise<string> {
    const request = { image: { image, userSpecifiedImage: image }, auth, sandboxConfig }
    return (await this.#client.call(method.pullImage, request, { signal })).imageRef
  }

  async remove(image: string): Promise<void> {
    await this.#client.call(method.removeImage, { image: { image } }, { timeoutMs: this.#timeoutMs })
  }

  fileSystems(): Promise<ImageFsInfoResponse> {
    return this.#client.call(method.imageFsInfo, {}, { timeoutMs: this.#timeoutMs })
  }

  close(): void {
    this.#client.close()
  }
}
