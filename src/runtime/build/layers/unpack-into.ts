/** Archives that `ADD` unpacks. */
import { spawn } from 'node:child_process'
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { posix } from 'node:path'
import { type Readable, Readable as Stream } from 'node:stream'
import type { TarEntry } from '../../images/index.ts'
import {
  byteString,
  decompressionOf,
  isArchiveHeader,
  type LayerArchive,
  partsOf,
  TarReader,
} from '../../images/index.ts'
import { StepError } from '../dockerfile/build-error.ts'
import type { Owner, TargetTree } from './target-tree.ts'

/** Programs for compressions that Node has not, by the first bytes of files. */
const programs: readonly (readonly [magic: Buffer, program: string])[] = [
  [Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]), 'xz'],
  [Buffer.from('BZh'), 'bzip2'],
]
const headerBytes = 512

/** True if a file is an archive of tar, compressed or not. */
export async function isArchive(file: string): Promise<boolean> {
  const { content, close } = decompressed(file)
  try {
    let head = Buffer.alloc(0)
    for await (const chunk of content as AsyncIterable<Buffer>) {
      head = Buffer.concat([head, chunk])
      if (head.length >= headerBytes) break
    }
    return head.length >= headerBytes && isArchiveHeader(head.subarray(0, headerBytes))
  } catch (error) {
    if (error instanceof StepError) throw error
    // Compressed files that are damaged are copied as they are.
    return false
  } finally {
    close()
  }
}

export interface UnpackInto {
  readonly tree: TargetTree
  readonly archive: LayerArchive
  /** The folder in the image. */
  readonly folder: string
  /** In place of the owners in the archive. */
  readonly owner: Owner | undefined
  readonly latest: number | undefined
}

/** Adds the entries of an archive below a folder of the image. */
export async function unpackInto(file: string, { tree, archive, folder, owner, latest }: UnpackInto): Promise<void> {
  let current: TarEntry | undefined
  let position = 0
  const fill = (end: number): void => {
    while (position < end) {
      const zeros = Buffer.alloc(Math.min(end - position, 1 << 16))
      archive.write(zeros)
      position += zeros.length
    }
  }
  const placeOf = (name: string): string => {
    const parts = partsOf(Buffer.from(name, 'latin1').toString())
    const last = parts.pop()
    return last === undefined ? tree.resolve(folder) : posix.join(tree.resolve(posix.join(folder, ...parts)), last)
  }
  const reader = new TarReader({
    entry(entry) {
      const place = placeOf(entry.name)
      if (posix.basename(place).startsWith('.wh.')) throw new StepError(`${file} has the whiteout ${entry.name}`)
      const changed = {
        ...entry,
        ...owner,
        name: byteString(place),
        linkName: entry.type === 'hard-link' ? byteString(placeOf(entry.linkName)) : entry.linkName,
        mtime: Math.min(entry.mtime, latest ?? Number.POSITIVE_INFINITY),
      }
      if (entry.type === 'directory') {
        tree.replaceFolder(place, changed)
        return
      }
      tree.beforeFile(place)
      current = changed
      position = 0
      archive.beginEntry(changed)
    },
    data(chunk, at) {
      fill(at)
      archive.write(Buffer.from(chunk))
      position += chunk.length
    },
    end() {
      if (!current) return
      if (current.type === 'file') fill(current.size)
      archive.endEntry(current)
      current = undefined
    },
  })
  const { content, close } = decompressed(file)
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      reader.push(chunk)
      await archive.drained()
    }
    reader.finish()
  } finally {
    close()
  }
}

function decompressed(file: string): { readonly content: Readable; readonly close: () => void } {
  const source = createReadStream(file, { highWaterMark: 1 << 18 })
  const decompression = decompressionOf(file)
  if (decompression) {
    source.on('error', (error) => decompression.destroy(error))
    const content = source.pipe(decompression)
    const close = (): void => {
      source.destroy()
      content.destroy()
    }
    return { content, close }
  }
  const program = programOf(file)
  if (!program) return { content: source, close: () => source.destroy() }
  source.destroy()
  const child = spawn(program, ['-dc', '--', file], { stdio: ['ignore', 'pipe', 'ignore'] })
  const content = Stream.from(outputOf(child, file, program))
  return { content, close: () => void child.kill('SIGKILL') }
}

async function* outputOf(child: ReturnType<typeof spawn>, file: string, program: string): AsyncGenerator<Buffer> {
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  ended.catch(() => {})
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) yield chunk
  const code = await ended.catch((error: unknown) => {
    throw new StepError(`${file} needs the program ${program}, which is not installed: install it`, { cause: error })
  })
  if (code !== 0) throw new StepError(`${program} cannot read ${file}: it is damaged`)
}

function programOf(file: string): string | undefined {
  const head = Buffer.alloc(6)
  const fd = openSync(file, 'r')
  try {
    readSync(fd, head, 0, head.length, 0)
  } finally {
    closeSync(fd)
  }
  return programs.find(([magic]) => head.subarray(0, magic.length).equals(magic))?.[1]
}
