/** The identity of files that `COPY` takes: their names, modes and content, but not their times. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readlinkSync, readSync } from 'node:fs'
import type { Source, SourceFile } from '../context/source-tree.ts'

const buffer = Buffer.allocUnsafe(1 << 20)

/** Owners count only where they are copied. */
export function sourceDigest(sources: readonly Source[], hasOwners: boolean): string {
  const hash = createHash('sha256')
  for (const { baseName, files } of sources) {
    hash.update(`\0${baseName}\0`)
    for (const file of files) {
      const { name, stats } = file
      const owner = hasOwners ? `${stats.uid}:${stats.gid}` : ''
      hash.update(`${name}\0${stats.mode}\0${owner}\0${contentDigest(file)}\0`)
    }
  }
  return hash.digest('hex')
}

function contentDigest({ path, stats }: SourceFile): string {
  if (stats.isSymbolicLink()) return readlinkSync(path)
  if (!stats.isFile()) return String(stats.rdev)
  const hash = createHash('sha256')
  const fd = openSync(path, 'r')
  try {
    for (let length = readSync(fd, buffer); length > 0; length = readSync(fd, buffer))
      hash.update(buffer.subarray(0, length))
  } finally {
    closeSync(fd)
  }
  return hash.digest('hex')
}
