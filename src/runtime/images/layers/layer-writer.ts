/**
 * Writes the entries of a layer into a folder: for overlayfs, where whiteouts become devices, or on top of a copy of
 * the layers below, where they delete.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fchmodSync,
  fchownSync,
  ftruncateSync,
  futimesSync,
  lchownSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { corruptContent } from '../image-error.ts'
import { bytesOf, type TarEntry, textOfBytes } from '../tar/tar-entry.ts'
import type { TarHandler } from '../tar/tar-reader.ts'
import { isForeignAttribute } from './foreign-attributes.ts'
import { isWhiteout, LayerPaths, type LowerFile, type LowerLayer, nativePath, partsOf, statOf } from './layer-paths.ts'
import { linuxCalls } from './linux-calls.ts'

/** `overlay` for mounts by root, `user-overlay` for those in user namespaces, `copy` for complete folders. */
export type LayerFormat = 'overlay' | 'user-overlay' | 'copy'

export interface LayerLimits {
  /** Of files without holes, in bytes. */
  readonly maxBytes: number
  readonly maxEntries: number
}

export interface LayerWriterOptions {
  /** An empty folder, or a copy of the layers below. */
  readonly root: string
  /** The layers below, the highest first; none for `copy`. */
  readonly lower: readonly LowerLayer[]
  readonly format: LayerFormat
  readonly limits: LayerLimits
  /** False without root, or without other users: files belong to this user, and devices are left out. */
  readonly isRoot: boolean
  /** False in a user namespace, which has no devices. Default: true. */
  readonly hasDevices?: boolean
}

type EntryTime = Pick<TarEntry, 'mtime' | 'mtimeNs'>

const whiteoutPrefix = '.wh.'
const opaqueMarker = '.wh..wh..opq'
/** Other files of AUFS. */
const metaPrefix = '.wh..wh.'

const kinds = { character: 0o020000, block: 0o060000, fifo: 0o010000 } as const

export class LayerWriter implements TarHandler {
  readonly #options: LayerWriterOptions
  readonly #paths: LayerPaths
  /** Paths that this layer has written. */
  readonly #written = new Set<string>()
  /** Times of folders are set last: writing into them changes them. */
  readonly #folders = new Map<string, EntryTime>()
  #file: { readonly fd: number; readonly path: string; readonly entry: TarEntry } | undefined
  bytes = 0
  entries = 0

  constructor(options: LayerWriterOptions) {
    const byteString = (path: string): string => textOfBytes(Buffer.from(path))
    const lower = options.lower.map((layer) => ({ ...layer, path: byteString(layer.path) }))
    this.#options = { ...options, root: byteString(options.root), lower }
    this.#paths = new LayerPaths({
      root: this.#options.root,
      lower,
      created: (path, lower) => this.#created(path, lower),
      uncover: (path) => this.#uncover(path),
    })
  }

  entry(entry: TarEntry): void {
    this.#count(entry)
    const parts = partsOf(entry.name)
    const name = parts.pop()
    if (name === undefined) {
      if (entry.type === 'directory') this.#setFolder(this.#options.root, entry)
      return
    }
    const folder = this.#paths.folder(parts)
    if (name.startsWith(whiteoutPrefix)) this.#whiteout(folder, name)
    else this.#write(folder, name, entry)
  }

  data(chunk: Buffer, position: number): void {
    if (!this.#file) return
    for (let at = 0; at < chunk.length; ) at += writeSync(this.#file.fd, chunk, at, chunk.length - at, position + at)
  }

  end(): void {
    const file = this.#file
    if (!file) return
    this.#file = undefined
    try {
      const { fd, path, entry } = file
      const { isRoot } = this.#options
      // Holes at the end have no content.
      ftruncateSync(fd, entry.size)
      if (isRoot) fchownSync(fd, entry.uid, entry.gid)
      // After the owner, which resets setuid and capabilities.
      fchmodSync(fd, entry.mode)
      this.#setAttributes(path, entry)
      if (entry.mtimeNs === 0) futimesSync(fd, entry.mtime, entry.mtime)
      else setTime(path, entry)
    } finally {
      closeSync(file.fd)
    }
  }

  /** Finishes the layer, after its last entry. */
  finish(): void {
    for (const [path, time] of [...this.#folders].reverse()) setTime(path, time)
  }

  /** Closes an unfinished file after an error. */
  abort(): void {
    if (this.#file) closeSync(this.#file.fd)
    this.#file = undefined
  }

  #count({ size }: TarEntry): void {
    const { maxBytes, maxEntries } = this.#options.limits
    this.bytes += size
    this.entries++
    if (this.bytes > maxBytes) throw corruptContent(`the layer has more than ${maxBytes} bytes`)
    if (this.entries > maxEntries) throw corruptContent(`the layer has more than ${maxEntries} files`)
  }

  #write(folder: readonly string[], name: string, entry: TarEntry): void {
    const parts = [...folder, name]
    const path = this.#paths.pathOf(parts)
    const present = statOf(path)
    const isFolder = entry.type === 'directory'
    if (present && isFolder && isWhiteout(present)) this.#uncover(path)
    else if (present && !(isFolder && present.isDirectory())) {
      rmSync(nativePath(path), { recursive: present.isDirectory() })
      if (present.isDirectory() || present.isSymbolicLink()) this.#paths.forget()
    }
    this.#written.add(path)
    switch (entry.type) {
      case 'file':
        this.#file = { fd: openSync(nativePath(path), 'wx', 0o600), path, entry }
        break
      case 'directory':
        if (!present) mkdirSync(nativePath(path), { mode: 0o700 })
        this.#setFolder(path, entry)
        break
      case 'symlink':
        symlinkSync(bytesOf(entry.linkName), nativePath(path))
        this.#setOthers(path, entry)
        break
      case 'hard-link':
        this.#link(path, entry)
        break
      case 'character':
      case 'block':
      case 'fifo':
        this.#makeNode(path, entry, kinds[entry.type])
        break
      default:
        entry.type satisfies never
    }
  }

  #setFolder(path: string, entry: TarEntry): void {
    const { isRoot } = this.#options
    if (isRoot) lchownSync(nativePath(path), entry.uid, entry.gid)
    chmodSync(nativePath(path), entry.mode)
    this.#setAttributes(path, entry)
    this.#folders.set(path, entry)
  }

  /** Owner, attributes and times of what has no content. Symbolic links have no mode. */
  #setOthers(path: string, entry: TarEntry): void {
    if (this.#options.isRoot) lchownSync(nativePath(path), entry.uid, entry.gid)
    if (entry.type !== 'symlink') chmodSync(nativePath(path), entry.mode)
    this.#setAttributes(path, entry)
    setTime(path, entry)
  }

  #makeNode(path: string, entry: TarEntry, kind: number): void {
    // As containerd does in user namespaces: only root of the machine can create devices.
    const { isRoot, hasDevices = true } = this.#options
    if (!(isRoot && hasDevices) && entry.type !== 'fifo') return
    linuxCalls().makeNode(path, kind | 0o600, entry.major, entry.minor)
    this.#setOthers(path, entry)
  }

  #link(path: string, { name, linkName }: TarEntry): void {
    const parts = partsOf(linkName)
    const last = parts.pop()
    const folder = last === undefined ? undefined : this.#paths.existingFolder(parts)
    const missing = () =>
      corruptContent(`${JSON.stringify(name)} is a hard link to ${JSON.stringify(linkName)}, which is missing`)
    if (last === undefined || !folder) throw missing()
    const target = [...folder, last]
    const targetPath = this.#paths.pathOf(target)
    const present = statOf(targetPath)
    if (present?.isDirectory() || (present && isWhiteout(present))) throw missing()
    if (!present) {
      const lower = this.#paths.lower(target)
      if (!lower || !(lower.stats.isFile() || lower.stats.isSymbolicLink())) throw missing()
      this.#paths.folder(folder)
      this.#copyUp(targetPath, lower)
    }
    linkSync(nativePath(targetPath), nativePath(path))
  }

  /** Copies a file of a layer below, as overlayfs does before a change. */
  #copyUp(path: string, { path: from, stats }: LowerFile): void {
    if (stats.isSymbolicLink()) symlinkSync(readlinkSync(nativePath(from), { encoding: 'buffer' }), nativePath(path))
    else copyFileSync(nativePath(from), nativePath(path))
    if (this.#options.isRoot) lchownSync(nativePath(path), stats.uid, stats.gid)
    if (!stats.isSymbolicLink()) chmodSync(nativePath(path), stats.mode & 0o7777)
    lutimesSync(nativePath(path), stats.atimeMs / 1000, stats.mtimeMs / 1000)
  }

  #created(path: string, lower: LowerFile | undefined): void {
    this.#written.add(path)
    if (!lower) return
    const { stats } = lower
    if (this.#options.isRoot) lchownSync(nativePath(path), stats.uid, stats.gid)
    chmodSync(nativePath(path), stats.mode & 0o7777)
    this.#folders.set(path, { mtime: Math.floor(stats.mtimeMs / 1000), mtimeNs: 0 })
  }

  #whiteout(folder: readonly string[], name: string): void {
    const path = this.#paths.pathOf(folder)
    if (name === opaqueMarker) {
      if (this.#options.format === 'copy') this.#clear(path)
      else this.#setOpaque(path)
      return
    }
    if (name.startsWith(metaPrefix)) return
    const hidden = name.slice(whiteoutPrefix.length)
    if (hidden === '' || hidden === '.' || hidden === '..')
      throw corruptContent(`${JSON.stringify(name)} hides no file`)
    this.#hide(`${path}/${hidden}`)
  }

  /** Hides a file of the layers below. One of this layer remains, whatever the order of the entries. */
  #hide(path: string): void {
    const present = statOf(path)
    const { format } = this.#options
    if (this.#written.has(path)) {
      if (present?.isDirectory() && format !== 'copy') this.#setOpaque(path)
      return
    }
    if (present && isWhiteout(present)) return
    if (present) {
      rmSync(nativePath(path), { recursive: true })
      this.#paths.forget()
    }
    if (format !== 'copy') linuxCalls().makeNode(path, kinds.character, 0, 0)
  }

  /** Deletes what the layers below have in a folder. */
  #clear(path: string): void {
    for (const child of readdirSync(nativePath(path), { encoding: 'buffer' })) {
      const childPath = `${path}/${textOfBytes(child)}`
      if (this.#written.has(childPath)) {
        if (statOf(childPath)?.isDirectory()) this.#clear(childPath)
      } else rmSync(nativePath(childPath), { recursive: true })
    }
    this.#paths.forget()
  }

  #uncover(path: string): void {
    rmSync(nativePath(path))
    mkdirSync(nativePath(path), { mode: 0o755 })
    this.#setOpaque(path)
  }

  #setOpaque(path: string): void {
    const name = this.#options.format === 'overlay' ? 'trusted.overlay.opaque' : 'user.overlay.opaque'
    linuxCalls().setAttribute(path, name, Buffer.from('y'))
  }

  #setAttributes(path: string, { xattrs, name }: TarEntry): void {
    for (const [attribute, value] of xattrs)
      if (!isForeignAttribute(attribute))
        try {
          linuxCalls().setAttribute(path, attribute, value)
        } catch (error) {
          // As containerd: file systems without attributes hold files nevertheless, and users cannot set capabilities.
          const { code } = error as NodeJS.ErrnoException
          if (code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && !(code === 'EPERM' && !this.#options.isRoot))
            throw corruptContent(`${name} cannot have the attribute ${attribute}`, error)
        }
  }
}

/** Node's times are too coarse for nanoseconds. */
function setTime(path: string, { mtime, mtimeNs }: EntryTime): void {
  if (mtimeNs === 0) lutimesSync(nativePath(path), mtime, mtime)
  else linuxCalls().setTime(path, mtime, mtimeNs)
}
