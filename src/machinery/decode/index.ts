/** Decodes JSON text or parsed JSON to an object of a schema's type, as Go's strict decoder does. */
import { floatTexts, parseExactJson } from '../../lib/exact-json.ts'
import type { StructType } from '../schema.ts'
import { DecodeError } from './decode-error.ts'
import { decodeStruct, isDecoded } from './decoder.ts'
import type { Run } from './decoders/run.ts'
import { duplicateKeys, fieldPath, hasRepeatedKeys, surveyText, visitKeys } from './duplicate-keys.ts'
import { maxDepth } from './limits/depth.ts'

export { DecodeError } from './decode-error.ts'
export { isDeeperThan, maxDepth } from './limits/depth.ts'
export { checkValues } from './limits/value-limit.ts'
export { nilCollections } from './nil-collections.ts'

export interface Decoded {
  /** A new object, unless the input was owned. Free-form parts are shared with the input either way. */
  readonly object: Record<string, unknown>
  /** Paths of unknown fields, which are dropped. At most 100. */
  readonly unknown: readonly string[]
  /** Paths of duplicate fields, of which the last one counts. At most 100. */
  readonly duplicates: readonly string[]
  /** Messages for both (`unknown field "spec.replica"`) in the order of the text, for warnings or strict errors. */
  readonly strict: readonly string[]
}

export interface DecodeOptions {
  /**
   * The JSON text of the parsed value, which is searched for duplicate keys and integers that are written as floats.
   */
  readonly text?: string
  /** True if nothing else uses the parsed value: it is then changed in place instead of copied. Default: false. */
  readonly owned?: boolean
}

/**
 * Decodes JSON text (a string) or parsed JSON. Null counts as absent; timestamps, quantities and base64 become
 * canonical. Throws DecodeError with Go's message (`json: cannot unmarshal number into Go struct field
 * ObjectMeta.metadata.name of type string`).
 */
export function decode(type: StructType, input: unknown, { text, owned = false }: DecodeOptions = {}): Decoded {
  if (typeof input === 'string') return decode(type, parseJson(input), { text: input, owned: true })
  const survey = text === undefined ? undefined : surveyText(text)
  // Integer fields reject integers that are written as floats.
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

/** Returns true if a number in a JSON text has a point or an exponent. */
export const hasFloats = (text: string): boolean => surveyText(text).hasFloats

/** Parses JSON. Throws a DecodeError with `syntax` set if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : String(error), { syntax: true })
  }
}

const unknownField = (path: string): string => `unknown field ${JSON.stringify(path)}`
const duplicateField = (path: string): string => `duplicate field ${JSON.stringify(path)}`

/** Returns the messages of a strict decoder for duplicate keys of a patch: `duplicate field "metadata.name"`. */
export const duplicateFieldMessages = (text: string, patch: unknown): string[] =>
  hasRepeatedKeys(text, patch, maxDepth) ? duplicateKeys(text).map(duplicateField) : []

const operationFields: ReadonlySet<unknown> = new Set(['op', 'path', 'from', 'value'])

/**
 * Returns the messages for a JSON patch: `json patch duplicate field "[0].op"`, `json patch unknown field "[0].form"`.
 * At most 100.
 */
export function jsonPatchMessages(text: string, patch: unknown): string[] {
  const hasKnownFields = (operation: unknown): boolean =>
    typeof operation !== 'object' ||
    operation === null ||
    Object.keys(operation).every((key) => operationFields.has(key))
  if ((!Array.isArray(patch) || patch.every(hasKnownFields)) && !hasRepeatedKeys(text, patch, maxDepth)) return []
  const messages = new Set<string>()
  visitKeys(text, (path, repeated) => {
    if (messages.size >= 100) return
    const isKnown = operationFields.has(path[1])
    if (!isKnown && path.length === 2) messages.add(`json patch ${unknownField(fieldPath(path))}`)
    // Duplicates inside unknown fields are not reported.
    else if (isKnown && repeated) messages.add(`json patch ${duplicateField(fieldPath(path))}`)
  })
  return [...messages]
}

/**
 * Finds the duplicate keys of a text, and puts all messages into the order of the text. Slow; called only for texts
 * that are known to have duplicates.
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
