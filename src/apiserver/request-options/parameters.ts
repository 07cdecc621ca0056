/** Parses query parameters as Go's conversion does, with its errors. */
import { integer, isInt64 } from '../../lib/exact-json.ts'
import { badRequest, internal, type StatusError } from '../../machinery/status-error.ts'

/** A flag: absent is undefined; any value but `false` and `0` is true. */
export function flagParameter(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name)
  return value === null ? undefined : value !== '0' && value.toLowerCase() !== 'false'
}

/** A 64-bit integer; undefined if empty or absent. Throws 400. */
export function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name)
  if (value === null || value === '') return undefined
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
  const exact = BigInt(value.replace('+', ''))
  if (!isInt64(exact)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`)
  return Number(exact)
}

/** The same with all digits: a bigint beyond ±2⁵³, for values that are stored. */
export function int64Parameter(query: URLSearchParams, name: string): number | undefined {
  const number = integerParameter(query, name)
  return number === undefined || Number.isSafeInteger(number)
    ? number
    : (integer(BigInt(query.get(name)!.replace('+', ''))) as number)
}

const parseError = (text: string): string | undefined =>
  !/^\d+$/.test(text)
    ? `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`
    : Number(text) >= 2 ** 64
      ? `strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`
      : undefined

/** A resourceVersion of a get or watch; empty is 0. Text that is no number is upstream's 500 without a reason. */
export const parseResourceVersion = (text: string): number => versionOf(text, internal)

/** A resourceVersion of a list; empty is 0. Text that is no number is a 400 (since Kubernetes 1.33). */
export const parseListVersion = (text: string): number =>
  versionOf(text, (why) => badRequest(`invalid resource version: ${why}`))

function versionOf(text: string, refusal: (why: string) => StatusError): number {
  if (text === '') return 0
  const error = parseError(text)
  if (error) throw refusal(`resourceVersion: Invalid value: ${JSON.stringify(text)}: ${error}`)
  return Number(text)
}

/** Returns true if a write names a version. */
export const namesVersion = (text: string | undefined): boolean => text !== undefined && !/^0*$/.test(text)

/** The resourceVersion of an object to write; empty and 0 mean none. */
export function parseObjectVersion(text: string | undefined): number {
  if (!text) return 0
  const error = parseError(text)
  if (error) throw internal(error)
  return Number(text)
}
