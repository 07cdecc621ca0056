/** Writes a tar archive into a file of its own, without compression. */
import { type FileHandle, open } from 'node:fs/promises'
import { corruptContent } from '../image-error.ts'
import type { TarEntry } from './tar-entry.ts'
import { archiveEnd, encodeHeader, paddingAfter } from './tar-writer.ts'

const chunkBytes = 1 << 20

/**
 * @example
 * const archive = await TarFile.create('/tmp/changes.tar')
 * await archive.add(plainEntry('hello', { size: 5 }), '/tmp/hello')
 * await archive.finish()
 */
export class TarFile {
  readonly #file: FileHandle

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /** The file must not exist. It is readable for its owner only. */
  static async create(path: string): Promise<TarFile> {
    return new TarFile(await open(path, 'wx', 0o600))
  }

  /**
   * Adds an entry with the content of a file of this machine, or without content.
   * @throws an ImageError if the file has become shorter than its entry.
   */
  async add(entry: TarEntry, file?: string | Buffer): Promise<void> {
    await this.#write(encodeHeader(entry))
    if (entry.type !== 'file') return
    if (file !== undefined && entry.size > 0) await this.#copy(entry, file)
    await this.#write(paddingAfter(entry.size))
  }

  async finish(): Promise<void> {
    await this.#write(archiveEnd)
    await this.close()
  }

  /** Ends without completing the archive. Does nothing after `finish`. */
  async close(): Promise<void> {
    await this.#file.close()
  }

  async #copy({ name, size }: TarEntry, path: string | Buffer): Promise<void> {
    const source = await open(path, 'r')
    try {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size))
      for (let missing = size; missing > 0; ) {
        const { bytesRead } = await source.read(chunk, 0, Math.min(chunk.length, missing))
        if (bytesRead === 0) throw corruptContent(`${Buffer.from(name, 'latin1')} has become shorter while it was read`)
        await this.#write(chunk.subarray(0, bytesRead))
        missing -= bytesRead
      }
    } finally {
      await source.close()
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten
  }
}
