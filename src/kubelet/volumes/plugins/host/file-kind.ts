/** Kinds of files, with the names of hostPath types. */
import type { Stats } from 'node:fs'

export type FileKind = 'Directory' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice'

/** Undefined for pipes. */
export function fileKind(stats: Stats): FileKind | undefined {
  if (stats.isDirectory()) return 'Directory'
  if (stats.isFile()) return 'File'
  if (stats.isSocket()) return 'Socket'
  if (stats.isCharacterDevice()) return 'CharDevice'
  if (stats.isBlockDevice()) return 'BlockDevice'
  return undefined
}
