/** Base images of builds: those of the store, or pulled with the logins of Docker. */
import type { WriteStream } from 'node:tty'
import {
  dockerLogin,
  formatPlatform,
  ImagePuller,
  type ImageSources,
  imageSource,
  openImageSources,
  type Platform,
  type RegistrySettings,
  type StoredImage,
} from '../../../runtime/images/index.ts'
import { Progress } from './progress.ts'
import type { Store } from './store-option.ts'

export interface BaseImagesOptions {
  readonly store: Store
  readonly settings: RegistrySettings
  /** True pulls images that are present, too. */
  readonly isPulled: boolean
  readonly imageSources: readonly string[]
  readonly terminal: WriteStream | undefined
}

export class BaseImages {
  readonly #options: BaseImagesOptions
  readonly #puller: ImagePuller
  readonly #sources: ImageSources
  readonly #pulled = new Set<string>()

  constructor(options: BaseImagesOptions) {
    this.#options = options
    const log = (line: string): void => void options.terminal?.write(`${line}\n`)
    this.#sources = openImageSources(options.store, options.imageSources, log)
    this.#puller = new ImagePuller({ store: options.store, ...options.settings })
  }

  /** Rejects with an ImageError if it cannot be pulled. */
  async find(name: string, platform: Platform, signal: AbortSignal): Promise<StoredImage> {
    const { store, isPulled, terminal } = this.#options
    const present = (await this.#sources.update(name, signal)) ?? store.find(name)
    const isUsable = present && formatPlatform(present.config.platform) === formatPlatform(platform)
    if (isUsable && (!isPulled || this.#pulled.has(name))) return present
    const progress = new Progress(terminal)
    try {
      const login = await dockerLogin(imageSource(name).registry)
      const onProgress = progress.show.bind(progress)
      const image = await this.#puller.pull(name, { login, platform, signal, onProgress })
      this.#pulled.add(name)
      return image
    } finally {
      progress.end()
    }
  }

  close(): void {
    this.#puller.close()
    this.#sources.close()
  }
}
