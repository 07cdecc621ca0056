/** Decoding: JSON text or parsed JSON becomes an object of a schema's type, as Go's strict decoder would have it. */
import { floatTexts, parseWholeJson } from '../../lib/exact-json.ts'
import type { StructType } from '../schema.ts'
import { DecodeError } from './decode-error.ts'
import { decodeStruct, isDecoded, maxDepth, type Run } from './decoder.ts'
import { duplicateKeys, fieldPath, hasRepeatedKeys, surveyText, visitKeys } from './duplicate-keys.ts'

export { DecodeError } from './decode-error.ts'
export { maxDepth } from './decoder.ts'
export { isDeeperThan } from './limits/depth.ts'
export { checkValues, maxValues } from './limits/value-limit.ts'
export { nilCollections } from './nil-collections.ts'

export interface Decoded {
  /** A new object, unless the input was owned. Free-form parts are shared with the input either way. */
  readonly object: Record<string, unknown>
  /** Paths of fields that the type does not have; they are left out. At most 100. */
  readonly unknown: readonly string[]
  /** Paths of fields that the text has more than once; the last one counts. At most 100. */
  readonly duplicates: readonly string[]
  /**
   * Both as messages (`unknown field "spec.replica"`), in the order of the text: warnings, or the parts of a strict
   * decoding error.
   */
  readonly strict: readonly string[]
}

export interface DecodeOptions {
  /**
   * The JSON text that a parsed value was read from: duplicate keys, and integers written as floats, are looked for in
   * it.
   */
  readonly text?: string
  /** Whether nobody else uses the parsed value: it is changed, and becomes the object where it needs no change. */
  readonly owned?: boolean
}

/**
 * Decodes JSON text (a string) or parsed JSON. Null is absent; timestamps, quantities and base64 come out canonical.
 * Throws DecodeError in Go's words (`json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of
 * type string`).
 */
export function decode(type: StructType, input: unknown, { text, owned = false }: DecodeOptions = {}): Decoded {
  if (typeof input === 'string') return decode(type, parseJson(input), { text: input, owned: true })
  const survey = text === undefined ? undefined : surveyText(text)
  // Integers that are written as floats are refused by the types of their fields.
  const floats = text !== undefined && survey?.hasFloats ? floatTexts(text) : undefined
  const run: Run = {
    root: type,
    path: [],
    unknown: [],
    counting: text !== undefined,
    owned: owned || floats !== undefined,
    keys: 0,
    items: 0,
  }
  const object = decodeStruct(type, floats ? floats.value : input, run)
  const { unknown } = run
  if (text === undefined || survey?.keys === run.keys)
    return { object, unknown, duplicates: [], strict: unknown.map(unknownField) }
  return { object, unknown, ...repeatedKeys(type, text, unknown) }
}

/** True if a number of a JSON text has a point or an exponent. */
export const hasFloats = (text: string): boolean => surveyText(text).hasFloats

/** Parses JSON; the DecodeError of text that is none has `syntax` set. */
export function parseJson(text: string): unknown {
  try {
    return parseWholeJson(text)
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : String(error), { syntax: true })
  }
}

const unknownField = (path: string): string => `unknown field ${JSON.stringify(path)}`
const duplicateField = (path: string): string => `duplicate field ${JSON.stringify(path)}`

/** What a strict decoder says of a patch whose text names a key twice: `duplicate field "metadata.name"`. */
export const duplicateFieldMessages = (text: string, patch: unknown): string[] =>
  hasRepeatedKeys(text, patch, maxDepth) ? duplicateKeys(text).map(duplicateField) : []

const operationFields: ReadonlySet<unknown> = new Set(['op', 'path', 'from', 'value'])

/**
 * The same of a JSON patch, whose operations have few fields: `json patch duplicate field "[0].op"`, `json patch
 * unknown field "[0].form"`. At most 100.
 */
export function jsonPatchMessages(text: string, patch: unknown): string[] {
  const areKnown = (operation: unknown): boolean =>
    typeof operation !== 'object' ||
    operation === null ||
    Object.keys(operation).every((key) => operationFields.has(key))
  if ((!Array.isArray(patch) || patch.every(areKnown)) && !hasRepeatedKeys(text, patch, maxDepth)) return []
  const messages = new Set<string>()
  visitKeys(text, (path, repeated) => {
    if (messages.size >= 100) return
    const isKnown = operationFields.has(path[1])
    if (!isKnown && path.length === 2) messages.add(`json patch ${unknownField(fieldPath(path))}`)
    // Nobody looks into what is not known.
    else if (isKnown && repeated) messages.add(`json patch ${duplicateField(fieldPath(path))}`)
  })
  return [...messages]
}

/**
 * The slow way, for texts that are known to have duplicate keys: finds them, and puts all messages into the order of
 * the text.
 */
function repeatedKeys(
  type: StructType,
  text: string,
  unknown: readonly string[],
): Pick<Decoded, 'duplicates' | 'strict'> {
  const duplicates = new Set<string>()
  const strict = new Set<string>()
  const waiting = new Set(unknown)
  const names = new Set(unknown.map((path) => path.slice(Math.max(path.lastIndexOf('.'), path.lastIndexOf(']')) + 1)))
  visitKeys(text, (path, repeated) => {
    if (strict.size >= 100) return
    if (repeated && isDecoded(type, path)) {
      const place = fieldPath(path)
      duplicates.add(place)
      strict.add(duplicateField(place))
    } else if (waiting.size > 0 && names.has(String(path.at(-1)).replace(/^.*[.\]]/s, ''))) {
      const place = fieldPath(path)
      if (waiting.delete(place)) strict.add(unknownField(place))
    }
  })
  return { duplicates: [...duplicates], strict: [...strict] }
}
