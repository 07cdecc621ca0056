/** Reads files of a container's root file system, without leaving it by symbolic links. */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** As the kernel's limit. */
const maxLinks = 40

/** The largest file that is read, in bytes: images are not trusted. */
const maxBytes = 4 * 1024 * 1024

/** The path on the host of a path in the root. Links are followed as if the root were `/`. */
export function resolveInRoot(root: string, path: string): string {
  const left = path.split('/').filter(Boolean)
  const resolved: string[] = []
  let links = 0
  while (left.length > 0) {
    const part = left.shift()!
    if (part === '.') continue
    if (part === '..') {
      resolved.pop()
      continue
    }
    const here = join(root, ...resolved, part)
    const isLink = lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink() === true
    if (!isLink) {
      resolved.push(part)
      continue
    }
    if (++links > maxLinks) throw new Error(`too many symbolic links in ${path}`)
    const target = readlinkSync(here)
    if (target.startsWith('/')) resolved.length = 0
    left.unshift(...target.split('/').filter(Boolean))
  }
  return join(root, ...resolved)
}

/** The text of a file in the root; '' if there is none, or it is no file. */
export function readRootFile(root: string, path: string): string {
  const file = resolveInRoot(root, path)
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (!stat?.isFile()) return ''
  if (stat.size > maxBytes) throw new Error(`${path} of the image is larger than ${maxBytes} bytes`)
  return readFileSync(file, 'utf8')
}
