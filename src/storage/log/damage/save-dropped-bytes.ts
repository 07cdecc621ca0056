/**
 * Saves a copy of the bytes that are dropped from the end of a segment when a store is opened, since the log may
 * overwrite them.
 */
import { closeSync, existsSync, fstatSync, fsyncSync, openSync, readSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { unfinishedSuffix } from '../segments/segment.ts'
import { syncDirectory } from '../writing/disk.ts'

const portionBytes = 1024 * 1024

/**
 * Copies the bytes of a file from `position` to its end to a file beside it, and returns its path. An identical copy is
 * reused; other files are never overwritten.
 */
export function saveDroppedBytes(path: string, position: number): string {
  const source = openSync(path, 'r')
  try {
    for (let number = 1; ; number++) {
      const aside = `${path}.cut-${position}${number > 1 ? `-${number}` : ''}`
      if (existsSync(aside)) {
        if (isCopy(source, position, aside)) return aside
        continue
      }
      copy(source, position, aside + unfinishedSuffix)
      renameSync(aside + unfinishedSuffix, aside)
      syncDirectory(dirname(path))
      return aside
    }
  } finally {
    closeSync(source)
  }
}

function copy(source: number, position: number, path: string): void {
  const target = openSync(path, 'w', 0o600)
  try {
    for (const bytes of portions(source, position)) {
      for (let written = 0; written < bytes.length; ) written += writeSync(target, bytes, written)
    }
    fsyncSync(target)
  } finally {
    closeSync(target)
  }
}

function isCopy(source: number, position: number, path: string): boolean {
  const other = openSync(path, 'r')
  try {
    if (fstatSync(other).size !== fstatSync(source).size - position) return false
    const others = portions(other, 0)
    for (const bytes of portions(source, position)) {
      const { value } = others.next()
      if (!value?.equals(bytes)) return false
    }
    return true
  } finally {
    closeSync(other)
  }
}

/** Yields the bytes of a file from `position` on. Each portion is valid until the next one is read. */
function* portions(fd: number, position: number): Generator<Buffer, undefined> {
  const bytes = Buffer.allocUnsafe(portionBytes)
  for (let at = position; ; ) {
    const read = readSync(fd, bytes, 0, portionBytes, at)
    if (read === 0) return
    yield bytes.subarray(0, read)
    at += read
  }
}
