/** The images of a Docker engine, which are read by its export of images. */
import { type DockerEngine, isMissing } from '../../../lib/docker-engine/index.ts'
import { importArchive } from '../archives/import-archive.ts'
import { type Digest, decodeDigest } from '../formats/digest.ts'
import { imageNotFound } from '../image-error.ts'
import type { ImageStore } from '../store/image-store.ts'
import type { StoredImage } from '../stored-image.ts'
import type { HostImages } from './host-images.ts'

/** The time for an engine to answer a question about an image. */
const answerMs = 10_000

export interface DockerImagesOptions {
  readonly store: ImageStore
  readonly engine: DockerEngine
}

export class DockerImages implements HostImages {
  readonly name: string
  readonly #options: DockerImagesOptions

  constructor(options: DockerImagesOptions) {
    this.name = `docker (${options.engine.address.text})`
    this.#options = options
  }

  async digestOf(imageName: string, signal?: AbortSignal): Promise<Digest | undefined> {
    const timeout = AbortSignal.timeout(answerMs)
    try {
      const path = `/images/${imageName}/json`
      const { Id } = await this.#options.engine.json<{ readonly Id?: string }>({
        path,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })
      return decodeDigest(Id, 'the ID of the image')
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async copy(imageName: string, signal?: AbortSignal): Promise<StoredImage> {
    const { engine, store } = this.#options
    const archive = await engine.stream({ path: `/images/${imageName}/get`, ...(signal && { signal }) })
    await importArchive(store, archive, { name: imageName })
    const image = store.find(imageName)
    if (!image) throw imageNotFound(imageName)
    return image
  }

  close(): void {
    this.#options.engine.close()
  }
}
