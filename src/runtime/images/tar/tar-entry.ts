/** Entries of tar archives. Names are byte strings (`latin1`): they need not be UTF-8. */

export type TarEntryType = 'file' | 'directory' | 'symlink' | 'hard-link' | 'character' | 'block' | 'fifo'

/** A part of a sparse file that has content. */
export interface SparsePart {
  readonly offset: number
  readonly length: number
}

export interface TarEntry {
  readonly type: TarEntryType
  readonly name: string
  /** The target of links. */
  readonly linkName: string
  /** Permissions with setuid, setgid and sticky bits. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Of the file, with holes, in bytes. */
  readonly size: number
  /** In whole seconds since 1970, and nanoseconds after them. */
  readonly mtime: number
  readonly mtimeNs: number
  readonly major: number
  readonly minor: number
  readonly xattrs: ReadonlyMap<string, Buffer>
}

/** Byte strings of paths, as file systems take them. */
export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')
export const textOfBytes = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
