/**
 * Keeps a copy of the end of a segment that is left out when a store is opened, since the log may write bytes of its
 * own there.
 */
import { closeSync, existsSync, fstatSync, fsyncSync, openSync, readSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { unfinished } from '../segments/segment.ts'
import { syncDirectory } from '../writing/disk.ts'

const portionBytes = 1024 * 1024

/**
 * Copies the bytes of a file from `position` on to a file beside it, and returns its path. A copy that is there already
 * is used; no other file is written over.
 */
export function keepAside(path: string, position: number): string {
  const source = openSync(path, 'r')
  try {
    for (let number = 1; ; number++) {
      const aside = `${path}.cut-${position}${number > 1 ? `-${number}` : ''}`
      if (existsSync(aside)) {
        if (isCopy(source, position, aside)) return aside
        continue
      }
      copy(source, position, aside + unfinished)
      renameSync(aside + unfinished, aside)
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

/** The bytes of a file from `position` on; each portion is good until the next one is asked for. */
function* portions(fd: number, position: number): Generator<Buffer, undefined> {
  const bytes = Buffer.allocUnsafe(portionBytes)
  for (let at = position; ; ) {
    const read = readSync(fd, bytes, 0, portionBytes, at)
    if (read === 0) return
    yield bytes.subarray(0, read)
    at += read
  }
}
