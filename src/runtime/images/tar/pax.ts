/** Records of pax headers (POSIX): `LENGTH KEY=VALUE` and a newline each, with values of any bytes. */
import { corruptContent } from '../image-error.ts'
import { bytesOf, type SparsePart } from './tar-entry.ts'

/** Values by key, as byte strings. Lists of GNU's sparse format 0.0 repeat their keys, and are joined by commas. */
export type PaxRecords = ReadonlyMap<string, string>

const repeated: ReadonlySet<string> = new Set(['GNU.sparse.offset', 'GNU.sparse.numbytes'])

/** Throws an ImageError for records that are not valid. */
export function decodePax(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>()
  const text = bytes.toString('latin1')
  for (let at = 0; at < text.length; ) {
    const blank = text.indexOf(' ', at)
    const length = blank < 0 || blank - at > 10 ? Number.NaN : Number(text.slice(at, blank))
    const record = text.slice(blank + 1, at + length - 1)
    const equals = record.indexOf('=')
    if (!(length > 4) || at + length > text.length || text[at + length - 1] !== '\n' || equals < 1)
      throw corruptContent('the archive is damaged: a pax record is not valid')
    const key = record.slice(0, equals)
    const value = record.slice(equals + 1)
    const before = repeated.has(key) ? records.get(key) : undefined
    records.set(key, before === undefined ? value : `${before},${value}`)
    at += length
  }
  return records
}

/** A number of a record; undefined without the record. Throws an ImageError for other values. */
export function paxNumber(records: PaxRecords, key: string): number | undefined {
  const text = records.get(key)
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,15}$/.test(text)) throw invalidRecord(key)
  return Number(text)
}

/** A time in seconds with a fraction; undefined without the record. Throws an ImageError for other values. */
export function paxTime(records: PaxRecords, key: string): { mtime: number; mtimeNs: number } | undefined {
  const text = records.get(key)
  if (text === undefined || text === '') return undefined
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d{1,11})(?:\.(\d*))?$/.exec(text) ?? []
  if (whole === '') throw invalidRecord(key)
  const nanoseconds = Number(fraction.slice(0, 9).padEnd(9, '0'))
  if (!sign) return { mtime: Number(whole), mtimeNs: nanoseconds }
  // Nanoseconds count forwards.
  return nanoseconds === 0
    ? { mtime: -Number(whole), mtimeNs: 0 }
    : { mtime: -Number(whole) - 1, mtimeNs: 1e9 - nanoseconds }
}

const invalidRecord = (key: string): Error =>
  corruptContent(`the archive is damaged: the pax record ${key} is not valid`)

const starPrefix = 'SCHILY.xattr.'
const libarchivePrefix = 'LIBARCHIVE.xattr.'

/** Extended attributes, as star, GNU tar and Go write them, or as libarchive does. */
export function paxAttributes(records: PaxRecords): Map<string, Buffer> {
  const attributes = new Map<string, Buffer>()
  for (const [key, value] of records)
    if (key.startsWith(libarchivePrefix))
      attributes.set(decodePercent(key.slice(libarchivePrefix.length)), Buffer.from(value, 'base64'))
    else if (key.startsWith(starPrefix)) attributes.set(key.slice(starPrefix.length), bytesOf(value))
  return attributes
}

const decodePercent = (text: string): string =>
  text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** The parts of GNU's sparse formats 0.0 and 0.1; undefined for other files. */
export function paxSparseParts(records: PaxRecords): SparsePart[] | undefined {
  const numbers = (key: string): number[] | undefined => records.get(key)?.split(',').map(Number)
  const map = numbers('GNU.sparse.map')
  const [offsets, lengths] = [numbers('GNU.sparse.offset'), numbers('GNU.sparse.numbytes')]
  const flat = map ?? offsets?.flatMap((offset, i) => [offset, lengths?.[i] ?? Number.NaN])
  return flat && pairsOf(flat)
}

/** Offsets and lengths in turn. */
export function pairsOf(numbers: readonly number[]): SparsePart[] {
  const parts: SparsePart[] = []
  for (let i = 0; i < numbers.length; i += 2) parts.push({ offset: numbers[i]!, length: numbers[i + 1] ?? Number.NaN })
  return parts
}
