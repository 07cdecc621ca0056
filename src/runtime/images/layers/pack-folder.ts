/** Packs a folder of this machine into a layer: a complete root file system, or the changes of an overlay. */
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { corruptContent } from '../image-error.ts'
import { bytesOf, type TarEntry, textOfBytes } from '../tar/tar-entry.ts'
import { plainEntry } from '../tar/tar-writer.ts'
import { fileEntry, isOpaque, type LatestTime, layerAttributes } from './file-entry.ts'
import { isWhiteout, nativePath } from './layer-paths.ts'

export interface PackOptions {
  /** True for the changes of an overlay, whose whiteouts and opaque folders become those of OCI. */
  readonly isOverlay: boolean
  /** Changes an entry: its owner, for example. */
  readonly change?: (entry: TarEntry) => TarEntry
  readonly latest?: LatestTime
}

/** Takes the entries, with the content of a file of this machine or without content. */
export interface EntrySink {
  add(entry: TarEntry, file?: Buffer): Promise<void>
}

/** Adds everything below a folder, sorted by name. Files with several names become hard links. */
export async function packFolder(root: string, archive: EntrySink, options: PackOptions): Promise<void> {
  const links = new Map<string, string>()
  const top = textOfBytes(Buffer.from(root))
  const visit = async (folder: string): Promise<void> => {
    const names = readdirSync(nativePath(folder === '' ? top : `${top}/${folder}`), { encoding: 'buffer' })
    for (const bytes of names.sort(Buffer.compare)) {
      const name = folder === '' ? textOfBytes(bytes) : `${folder}/${textOfBytes(bytes)}`
      const path = `${top}/${name}`
      const stats = lstatSync(nativePath(path))
      const entry = packedEntry(name, path, stats, options)
      if (!entry) continue
      const first = hardLink(links, name, stats)
      if (first !== undefined) await archive.add({ ...entry, type: 'hard-link', linkName: first, size: 0 })
      else await archive.add(entry, entry.type === 'file' ? bytesOf(path) : undefined)
      if (!stats.isDirectory()) continue
      if (options.isOverlay && isOpaque(path)) await archive.add(plainEntry(`${name}/.wh..wh..opq`))
      await visit(name)
    }
  }
  await visit('')
}

function packedEntry(name: string, path: string, stats: Stats, options: PackOptions): TarEntry | undefined {
  const { isOverlay, change, latest } = options
  if (isOverlay && isWhiteout(stats)) return plainEntry(whiteoutOf(name))
  const [last = ''] = name.split('/').slice(-1)
  if (last.startsWith('.wh.'))
    throw corruptContent(`${JSON.stringify(name)} cannot be in an image: names that begin with .wh. delete files there`)
  const entry = fileEntry(stats.isDirectory() ? `${name}/` : name, path, stats, latest)
  if (!entry) return undefined
  const complete = { ...entry, xattrs: layerAttributes(path) }
  return change ? change(complete) : complete
}

function whiteoutOf(name: string): string {
  const slash = name.lastIndexOf('/')
  return `${name.slice(0, slash + 1)}.wh.${name.slice(slash + 1)}`
}

/** The first name of a file that has several. */
function hardLink(links: Map<string, string>, name: string, stats: Stats): string | undefined {
  if (stats.nlink < 2 || stats.isDirectory()) return undefined
  const inode = `${stats.dev}:${stats.ino}`
  const first = links.get(inode)
  if (first === undefined) links.set(inode, name)
  return first
}
