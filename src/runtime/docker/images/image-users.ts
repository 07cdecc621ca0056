/**
 * Users and groups of images, so that containers have those of every other runtime: Docker itself ignores groups of the
 * image if a group is stated, and does not report users. The files are read from a container that never runs.
 */
import { type DockerEngine, isMissing } from '../../../lib/docker-engine/index.ts'
import { TarReader } from '../../images/tar/tar-reader.ts'
import type { UserFiles } from '../../spec/user.ts'
import type { ImageInspection } from '../engine-types.ts'
import { helperLabels } from '../pods/labels.ts'
import type { Pods } from '../pods/pods.ts'

export interface ImageUsers {
  /** The user of the image's configuration. */
  readonly user: string
  readonly files: UserFiles
}

/** Larger files are cut. In bytes. */
const maxFileBytes = 1024 * 1024

export class ImageUserReader {
  readonly #engine: DockerEngine
  readonly #pods: Pods
  /** By IDs of images, which never change. */
  readonly #known = new Map<string, Promise<ImageUsers>>()

  constructor(engine: DockerEngine, pods: Pods) {
    this.#engine = engine
    this.#pods = pods
  }

  /** Rejects with an EngineError of 404 if the image is missing. */
  async of(image: string): Promise<ImageUsers> {
    const { Id, Config } = await this.#engine.json<ImageInspection>({ path: `/images/${encodeURI(image)}/json` })
    const known = this.#known.get(Id) ?? this.#read(Id, Config?.User ?? '')
    this.#known.set(Id, known)
    known.catch(() => this.#known.delete(Id))
    return known
  }

  async #read(imageId: string, user: string): Promise<ImageUsers> {
    const id = await this.#pods.create(undefined, {
      Image: imageId,
      Entrypoint: ['/'],
      Labels: helperLabels(this.#pods.owner),
      HostConfig: { NetworkMode: 'none' },
    })
    try {
      const [passwd, group] = await Promise.all([this.#file(id, '/etc/passwd'), this.#file(id, '/etc/group')])
      return { user, files: { passwd, group } }
    } finally {
      await this.#pods.remove(id)
    }
  }

  /** '' if the file is missing. */
  async #file(id: string, path: string): Promise<string> {
    const chunks: Buffer[] = []
    let length = 0
    const reader = new TarReader({
      entry: () => {},
      data: (chunk) => {
        length += chunk.length
        if (length <= maxFileBytes) chunks.push(Buffer.from(chunk))
      },
      end: () => {},
    })
    try {
      const archive = await this.#engine.stream({ path: `/containers/${id}/archive`, query: { path } })
      for await (const chunk of archive as AsyncIterable<Buffer>) reader.push(chunk)
    } catch (error) {
      if (isMissing(error)) return ''
      throw error
    }
    return Buffer.concat(chunks).toString()
  }
}
