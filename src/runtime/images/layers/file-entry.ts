/** Entries of layers for files of this machine. */
import { readlinkSync, type Stats } from 'node:fs'
import { bytesOf, type TarEntry, type TarEntryType, textOfBytes } from '../tar/tar-entry.ts'
import { plainEntry } from '../tar/tar-writer.ts'
import { isForeignAttribute } from './foreign-attributes.ts'
import { linuxCalls } from './linux-calls.ts'

/** Later times are replaced by it: in seconds since 1970. */
export type LatestTime = number | undefined

/**
 * The entry of a file. `name` and `path` are byte strings. Undefined for sockets, which layers cannot have. Times have
 * whole seconds, as in layers of others.
 */
export function fileEntry(name: string, path: string, stats: Stats, latest: LatestTime): TarEntry | undefined {
  const type = typeOf(stats)
  if (!type) return undefined
  const isDevice = type === 'character' || type === 'block'
  return plainEntry(name, {
    type,
    linkName: type === 'symlink' ? textOfBytes(readlinkSync(bytesOf(path), { encoding: 'buffer' })) : '',
    mode: stats.mode & 0o7777,
    uid: stats.uid,
    gid: stats.gid,
    size: type === 'file' ? stats.size : 0,
    mtime: Math.min(Math.floor(stats.mtimeMs / 1000), latest ?? Number.POSITIVE_INFINITY),
    ...(isDevice && numbersOf(stats.rdev)),
  })
}

/** The attributes of a file that belong to the layer. */
export function layerAttributes(path: string): Map<string, Buffer> {
  const all = linuxCalls().attributes(path)
  return new Map([...all].filter(([name]) => !isForeignAttribute(name)).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** True for a folder of overlayfs that hides the folder below it. */
export function isOpaque(path: string): boolean {
  const attributes = linuxCalls().attributes(path)
  const value = attributes.get('trusted.overlay.opaque') ?? attributes.get('user.overlay.opaque')
  return value?.toString() === 'y'
}

function typeOf(stats: Stats): TarEntryType | undefined {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  if (stats.isSymbolicLink()) return 'symlink'
  if (stats.isCharacterDevice()) return 'character'
  if (stats.isBlockDevice()) return 'block'
  return stats.isFIFO() ? 'fifo' : undefined
}

/** As gnu_dev_major(3) and gnu_dev_minor(3), for numbers of 32 bits. */
const numbersOf = (device: number) => ({
  major: Math.floor(device / 0x100) & 0xfff,
  minor: (device & 0xff) + (Math.floor(device / 0x100000) & 0xfff) * 0x100,
})
