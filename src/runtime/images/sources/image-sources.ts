/** The programs on this machine whose images can be used as if they were in the store (`--image-source`). */
import { KeyedQueue } from '../../../lib/flow/keyed-queue.ts'
import type { Log } from '../../../lib/log/log.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { completeName } from '../../../node/images/image-name.ts'
import { isDigest } from '../formats/digest.ts'
import { ImageError } from '../image-error.ts'
import type { ImageStore } from '../store/image-store.ts'
import type { StoredImage } from '../stored-image.ts'
import type { HostImages } from './host-images.ts'

export interface ImageSourcesOptions {
  readonly store: ImageStore
  /** The first one that has an image is its source. */
  readonly sources: readonly HostImages[]
  readonly log: Log
}

export class ImageSources {
  readonly #options: ImageSourcesOptions
  readonly #queue = new KeyedQueue()
  /** Sources whose last call has failed. */
  readonly #failed = new Set<HostImages>()

  constructor(options: ImageSourcesOptions) {
    this.#options = options
  }

  /**
   * Makes the store have the image that a source has by a name, and returns it; undefined if no source has it. Does
   * nothing for IDs. A source that does not answer is logged, once until it answers again.
   */
  async update(reference: string, signal?: AbortSignal): Promise<StoredImage | undefined> {
    const name = nameOf(reference)
    if (name === undefined) return undefined
    for (const source of this.#options.sources) {
      const image = await this.#updateFrom(source, name, signal)
      if (image) return image
    }
    return undefined
  }

  close(): void {
    for (const source of this.#options.sources) source.close()
  }

  async #updateFrom(
    source: HostImages,
    name: string,
    signal: AbortSignal | undefined,
  ): Promise<StoredImage | undefined> {
    const { log } = this.#options
    try {
      const image = await this.#queue.run(name, () => this.#copy(source, name, signal))
      this.#failed.delete(source)
      return image
    } catch (error) {
      if (signal?.aborted) throw error
      if (!this.#failed.has(source)) log(`${source.name} cannot give the image ${name}: ${messageOf(error)}`)
      this.#failed.add(source)
      return undefined
    }
  }

  async #copy(source: HostImages, name: string, signal: AbortSignal | undefined): Promise<StoredImage | undefined> {
    const { store, log } = this.#options
    const digest = await source.digestOf(name, signal)
    if (digest === undefined) return undefined
    const present = store.find(name)
    const targets = store.names().filter((one) => one.name === name)
    const known = [present?.id, present?.manifest, ...targets.map(({ target }) => target)]
    if (present && known.includes(digest)) return present
    const image = await source.copy(name, signal)
    log(`the image ${name} was copied from ${source.name}`)
    return image
  }
}

/** Undefined for IDs, and for texts that are no names. */
function nameOf(reference: string): string | undefined {
  if (isDigest(reference) || /^[a-f0-9]{12,64}$/.test(reference)) return undefined
  try {
    return completeName(reference)
  } catch {
    return undefined
  }
}

/** An error that names the forms of `--image-source`. */
export const invalidSource = (text: string): ImageError =>
  new ImageError(
    'InvalidArgument',
    `${JSON.stringify(text)} is no source of images: write docker, docker:SOCKET, containerd, ` +
      'containerd:SOCKET or containerd:SOCKET,namespace=NAME',
  )
