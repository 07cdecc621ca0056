/** Values of nft's JSON. */

export type Json = unknown

export const isRecord = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const recordOf = (value: Json): Readonly<Record<string, Json>> | undefined =>
  isRecord(value) ? value : undefined

/** Empty for another value. */
export const stringOf = (value: Json): string => (typeof value === 'string' ? value : '')

/** The values of an anonymous set, or the value itself. */
export function valuesOf(value: Json): readonly Json[] {
  if (isRecord(value) && Array.isArray(value.set)) return value.set as readonly Json[]
  return Array.isArray(value) ? (value as readonly Json[]) : [value]
}

/** `10.0.0.1`, `10.0.0.0/8` or `10.0.0.1-10.0.0.9`; undefined for other values. */
export function rangeText(value: Json): string | undefined {
  if (typeof value === 'string') return value
  const { prefix, range, elem } = recordOf(value) ?? {}
  if (isRecord(elem)) return rangeText(elem.val)
  if (isRecord(prefix)) return `${stringOf(prefix.addr)}/${Number(prefix.len)}`
  if (Array.isArray(range)) return range.map(String).join('-')
  return undefined
}

/** The key of an element of a set or map: fields joined by ` . `. */
export function elementKey(value: Json): string {
  const { concat, elem } = recordOf(value) ?? {}
  if (isRecord(elem)) return elementKey(elem.val)
  if (Array.isArray(concat)) return concat.map((part) => rangeText(part) ?? String(part)).join(' . ')
  return rangeText(value) ?? String(value)
}
