/** The image of the first process of pods, made from bytes and imported: nothing is pulled. */
import { type DockerEngine, isMissing, jsonLines } from '../../../lib/docker-engine/index.ts'
import { archiveEnd, encodeHeader, paddingAfter, plainEntry } from '../../images/tar/tar-writer.ts'
import { pauseProgram } from '../../sandboxes/pause-program.ts'

const repository = 'localhost/typernetes/pause'
const tag = '1'

export const pauseImage = `${repository}:${tag}`

/** The names of architectures in Node, by those of the kernel. */
const architectures: Readonly<Record<string, string>> = { x86_64: 'x64', aarch64: 'arm64' }

export class PauseImage {
  readonly #engine: DockerEngine
  readonly #machine: string
  #pending: Promise<void> | undefined

  /** `machine` is that of the engine, as `uname -m` has it. */
  constructor(engine: DockerEngine, machine: string) {
    this.#engine = engine
    this.#machine = machine
  }

  /** Resolves with the name of the image, which is imported if it is missing. */
  async ensure(): Promise<string> {
    this.#pending ??= this.#import().finally(() => {
      this.#pending = undefined
    })
    await this.#pending
    return pauseImage
  }

  async #import(): Promise<void> {
    try {
      await this.#engine.json({ path: `/images/${pauseImage}/json` })
      return
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    const progress = await this.#engine.stream({
      method: 'POST',
      path: '/images/create',
      query: { fromSrc: '-', repo: repository, tag, changes: 'ENTRYPOINT ["/pause"]' },
      headers: { 'content-type': 'application/x-tar' },
      body: archive(pauseProgram(architectures[this.#machine] ?? this.#machine)),
    })
    for await (const { error } of jsonLines<{ readonly error?: string }>(progress))
      if (error) throw new Error(`cannot import the image ${pauseImage}: ${error}`)
  }
}

function archive(program: Buffer): Buffer {
  const header = encodeHeader(plainEntry('pause', { size: program.length, mode: 0o755 }))
  return Buffer.concat([header, program, paddingAfter(program.length), archiveEnd])
}
