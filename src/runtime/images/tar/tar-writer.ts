/** Writes tar archives: pax headers where ustar's fields are too short. */

import { bytesOf, type TarEntry } from './tar-entry.ts'
import { blockBytes } from './tar-header.ts'

const flags = {
  file: '0',
  'hard-link': '1',
  symlink: '2',
  character: '3',
  block: '4',
  directory: '5',
  fifo: '6',
} as const

const maxOctal = { seven: 0o7777777, eleven: 0o77777777777 } as const
const nameBytes = 100

/** The zero blocks that end an archive. */
export const archiveEnd = Buffer.alloc(2 * blockBytes)

/** Zero bytes after content of a size. */
export const paddingAfter = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)

/** Returns the headers of an entry; a file's content and its padding follow. */
export function encodeHeader(entry: TarEntry): Buffer {
  const { name, linkName, size, uid, gid, mtime, xattrs } = entry
  const records: (readonly [string, string])[] = []
  if (name.length > nameBytes) records.push(['path', name])
  if (linkName.length > nameBytes) records.push(['linkpath', linkName])
  if (size > maxOctal.eleven) records.push(['size', String(size)])
  if (uid > maxOctal.seven) records.push(['uid', String(uid)])
  if (gid > maxOctal.seven) records.push(['gid', String(gid)])
  if (mtime < 0) records.push(['mtime', String(mtime)])
  for (const [key, value] of xattrs) records.push([`SCHILY.xattr.${key}`, value.toString('latin1')])
  const header = headerBlock(entry, flags[entry.type])
  if (records.length === 0) return header
  const pax = bytesOf(records.map(([key, value]) => paxRecord(key, value)).join(''))
  const paxEntry = { ...entry, name: 'pax', linkName: '', mode: 0o644, size: pax.length, mtime: 0, uid: 0, gid: 0 }
  return Buffer.concat([headerBlock(paxEntry, 'x'), pax, paddingAfter(pax.length), header])
}

/** The length of a record includes its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  let length = rest.length
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return `${length}${rest}`
}

function headerBlock({ name, linkName, mode, uid, gid, size, mtime, major, minor }: TarEntry, flag: string): Buffer {
  const block = Buffer.alloc(blockBytes)
  const octal = (value: number, at: number, length: number): void => {
    const max = 8 ** (length - 1) - 1
    block.write(
      Math.max(0, Math.min(Math.floor(value), max))
        .toString(8)
        .padStart(length - 1, '0'),
      at,
      'latin1',
    )
  }
  block.write(name.slice(0, nameBytes), 0, 'latin1')
  octal(mode, 100, 8)
  octal(uid, 108, 8)
  octal(gid, 116, 8)
  octal(flag === '0' || flag === 'x' ? size : 0, 124, 12)
  octal(mtime, 136, 12)
  block.write('        ', 148, 'latin1')
  block.write(flag, 156, 'latin1')
  block.write(linkName.slice(0, nameBytes), 157, 'latin1')
  block.write('ustar\u000000', 257, 'latin1')
  octal(major, 329, 8)
  octal(minor, 337, 8)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

/** An entry with the usual attributes: owned by root, at the beginning of 1970. */
export const plainEntry = (name: string, fields: Partial<TarEntry> = {}): TarEntry => ({
  type: 'file',
  name,
  linkName: '',
  mode: fields.type === 'directory' ? 0o755 : 0o644,
  uid: 0,
  gid: 0,
  size: 0,
  mtime: 0,
  mtimeNs: 0,
  major: 0,
  minor: 0,
  xattrs: new Map(),
  ...fields,
})
