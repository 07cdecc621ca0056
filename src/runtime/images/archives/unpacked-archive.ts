/** Files of an archive of images, in a folder of the store, with their digests. */
import { createHash, type Hash, randomBytes } from 'node:crypto'
import { closeSync, createReadStream, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Digest } from '../formats/digest.ts'
import { corruptContent } from '../image-error.ts'
import { decompressionOf } from '../layers/unpack-layer.ts'
import { ownName } from '../store/leases.ts'
import type { StorePaths } from '../store/store-paths.ts'
import type { TarEntry } from '../tar/tar-entry.ts'
import { TarReader } from '../tar/tar-reader.ts'

export interface ArchiveFile {
  readonly path: string
  readonly digest: Digest
  /** In bytes. */
  readonly size: number
}

export interface UnpackedArchive {
  /** Finds a file by its name in the archive, through links. */
  file(name: string): ArchiveFile | undefined
  /** Deletes what has not been moved away. */
  remove(): Promise<void>
}

const maxFiles = 100_000

/**
 * Reads the archive of a file, compressed or not, or one that arrives, uncompressed.
 * Names of files are keys only: none of them leads anywhere.
 */
export async function unpackArchive(archive: string | Readable, { unfinished }: StorePaths): Promise<UnpackedArchive> {
  const folder = join(unfinished, `${ownName()}.${randomBytes(6).toString('hex')}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const remove = () => rm(folder, { recursive: true, force: true })
  const files = new Map<string, ArchiveFile>()
  const links = new Map<string, string>()
  let open: { readonly fd: number; readonly hash: Hash; readonly path: string; readonly entry: TarEntry } | undefined
  const reader = new TarReader({
    entry(entry) {
      if (files.size + links.size > maxFiles) throw corruptContent(`the archive has more than ${maxFiles} files`)
      const name = normalized(entry.name)
      if (entry.type === 'hard-link') links.set(name, normalized(entry.linkName))
      if (entry.type === 'symlink') links.set(name, normalized(posix.join(posix.dirname(name), entry.linkName)))
      if (entry.type !== 'file') return
      const path = join(folder, String(files.size))
      open = { fd: openSync(path, 'wx', 0o600), hash: createHash('sha256'), path, entry }
    },
    data(chunk, position) {
      if (!open) return
      for (let at = 0; at < chunk.length; ) at += writeSync(open.fd, chunk, at, chunk.length - at, position + at)
      open.hash.update(chunk)
    },
    end() {
      if (!open) return
      const { fd, hash, path, entry } = open
      closeSync(fd)
      open = undefined
      files.set(normalized(entry.name), { path, digest: `sha256:${hash.digest('hex')}`, size: entry.size })
    },
  })
  try {
    const consume = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) reader.push(chunk)
    }
    const isFile = typeof archive === 'string'
    const source = isFile ? createReadStream(archive, { highWaterMark: 1 << 19 }) : archive
    const decompression = isFile ? decompressionOf(archive) : undefined
    await (decompression ? pipeline(source, decompression, consume) : pipeline(source, consume))
    reader.finish()
  } catch (error) {
    if (open) closeSync(open.fd)
    await remove()
    throw error
  }
  return { file: (name) => findFile(files, links, normalized(name)), remove }
}

const normalized = (name: string): string => posix.normalize(`/${name}`).slice(1)

function findFile(
  files: ReadonlyMap<string, ArchiveFile>,
  links: ReadonlyMap<string, string>,
  name: string,
): ArchiveFile | undefined {
  let target: string | undefined = name
  for (let depth = 0; depth < 10 && target !== undefined; depth++) {
    const found = files.get(target)
    if (found) return found
    target = links.get(target)
  }
  return undefined
}

/** Reads a document of the archive. Throws an ImageError for one that is larger than `limit` bytes. */
export function readDocument({ path, size }: ArchiveFile, limit: number): Buffer {
  if (size > limit) throw corruptContent(`the archive has a document of ${size} bytes`)
  return readFileSync(path)
}
