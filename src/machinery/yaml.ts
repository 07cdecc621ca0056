/**
 * YAML as Kubernetes reads and writes it (sigs.k8s.io/yaml): scalars follow YAML 1.1 (`yes` and `y` are booleans,
 * `0644` is octal); output has sorted keys, and quotes around every string that a 1.1 reader would not read as a
 * string.
 */
import {
  boolYaml11Tag,
  CORE_SCHEMA,
  constructFromEvents,
  DUMP_SCHEMA,
  defineScalarTag,
  dump,
  EVENT_ID,
  type Event,
  getScalarValue,
  intCoreTag,
  intYaml11Tag,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  YAMLException,
} from 'js-yaml'
import { integer as exact, parseExactJson } from '../lib/exact-json.ts'
import { setOwn } from '../lib/own.ts'
import { countKeys } from './decode/duplicate-keys.ts'
import { checkValues, maxValues, tooManyValues } from './decode/limits/value-limit.ts'

/** The text is not valid YAML or expands to too many values. The message is that of Go's converter. */
export class YamlError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'YamlError'
  }
}

/** The limit of nesting levels. */
const maxDepth = 500
const tooDeep = 'error converting YAML to JSON: yaml: exceeded max depth'

/** The limit of values after aliases are expanded: this number, or the length of the text if that is larger. */
const minExpansionLimit = 100_000

const integer = /^([-+]?)(?:0b([01_]+)|0x([0-9a-fA-F_]+)|0o?([0-7_]+)|(0|[1-9][0-9_]*))$/

/** The largest integer of Go's YAML reader. It reads larger ones as floats. */
const maxUint64 = 2n ** 64n - 1n
const minInt64 = -(2n ** 63n)

/** Parses digits exactly; returns a float beyond 64 bits. */
function longInteger(digits: string, prefix: string, isNegative: boolean): number | bigint {
  const size = BigInt(`${prefix}${digits}`)
  const value = isNegative ? -size : size
  return value > maxUint64 || value < minInt64 ? Number(value) : exact(value)
}

/** Integers in the syntax of Go's ParseInt and ParseUint with base 0. */
const integerTag = defineScalarTag<number | bigint>('tag:yaml.org,2002:int', {
  implicit: true,
  implicitFirstChars: ['-', '+', ...'0123456789'],
  identify: (value) => typeof value === 'bigint' || Number.isInteger(value),
  resolve: (source) => {
    const match = integer.exec(source)
    if (!match) return NOT_RESOLVED
    const [, sign, binary, hex, octal, decimal] = match
    const digits = (binary ?? hex ?? octal ?? decimal ?? '').replaceAll('_', '')
    if (digits === '') return NOT_RESOLVED
    const value = Number.parseInt(
      digits,
      binary === undefined ? (hex === undefined ? (octal === undefined ? 10 : 8) : 16) : 2,
    )
    if (!Number.isSafeInteger(value)) {
      return longInteger(
        digits,
        binary === undefined ? (hex === undefined ? (octal === undefined ? '' : '0o') : '0x') : '0b',
        sign === '-',
      )
    }
    return sign === '-' && value !== 0 ? -value : value
  },
})

const explicitText = (name: string, read: (source: string) => string) =>
  defineScalarTag<string>(`tag:yaml.org,2002:${name}`, { identify: () => false, resolve: read })

/** Set by the mapping tag if a key is repeated. Parsing is synchronous. */
let hasRepeatedKey = false

const mappingTag = {
  ...mapTag,
  addPair: (carrier: Record<string, unknown>, key: unknown, value: unknown): string => {
    // `mapTag` rejects a map as a key; such a map may have its own `toString`.
    if ((typeof key !== 'object' || key === null) && Object.hasOwn(carrier, String(key))) hasRepeatedKey = true
    return mapTag.addPair(carrier, key, value)
  },
}

const schema = CORE_SCHEMA.withTags(
  boolYaml11Tag,
  integerTag,
  mergeTag,
  mappingTag,
  explicitText('binary', (source) => Buffer.from(source, 'base64').toString()),
  explicitText('timestamp', (source) => source),
)

const lineAt = (text: string, offset: number): number => {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** Returns the offset of an event's value in the text. */
function startOf(event: Event): number {
  if (event.type === EVENT_ID.SCALAR) return event.valueStart
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart
  return 'start' in event ? event.start : 0
}

/** Returns `line 4: key "name" already set in map`, the message of Go's strict reader, for every repeated key. */
function repeatedKeys(text: string, events: readonly Event[]): string[] {
  const messages: string[] = []
  const open: { keys: Set<string> | undefined; key: string | undefined }[] = []
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      open.pop()
      continue
    }
    const parent = open.at(-1)
    if (parent?.keys) {
      if (parent.key === undefined) {
        parent.key = event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : ''
      } else {
        if (parent.keys.has(parent.key) && parent.key !== '<<' && messages.length < 100)
          messages.push(`line ${lineAt(text, startOf(event))}: key ${JSON.stringify(parent.key)} already set in map`)
        parent.keys.add(parent.key)
        parent.key = undefined
      }
    }
    if (event.type === EVENT_ID.MAPPING) open.push({ keys: new Set(), key: undefined })
    else if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.DOCUMENT)
      open.push({ keys: undefined, key: undefined })
  }
  return messages
}

/** Copies a value with aliases expanded and keys sorted, as Go writes a map as JSON. */
function expand(value: unknown, budget: { left: number }, depth: number): unknown {
  if (--budget.left < 0)
    throw new YamlError('error converting YAML to JSON: yaml: document contains excessive aliasing')
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxDepth) throw new YamlError(tooDeep)
  if (Array.isArray(value)) return value.map((item) => expand(item, budget, depth + 1))
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value).sort()) {
    setOwn(result, key, expand((value as Record<string, unknown>)[key], budget, depth + 1))
  }
  return result
}

/**
 * Sorts the keys of all objects of a parsed JSON text, and counts them. Does not copy objects that are sorted already,
 * which most objects from Go clients are.
 */
function sortKeys(value: unknown, count: { keys: number }, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxDepth) throw new YamlError(tooDeep)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = sortKeys(value[i], count, depth + 1)
    return value
  }
  const object = value as Record<string, unknown>
  let last = ''
  let isSorted = true
  for (const key in object) {
    count.keys++
    if (key < last) isSorted = false
    last = key
    const member = object[key]
    const sorted = sortKeys(member, count, depth + 1)
    if (sorted !== member) setOwn(object, key, sorted)
  }
  if (isSorted) return object
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(object).sort()) setOwn(result, key, object[key])
  return result
}

/** Every value has an event; collections and documents have another one for their end. */
const maxEvents = 2 * maxValues

/** The parser visits a node at most twice: keys after a `?`, scalars in block lists. */
const maxNodes = 2 * maxEvents

/**
 * A depth limit that counts its comparisons. The parser compares it at every node, so that a text with millions of
 * nodes is rejected early instead of after parsing.
 */
class CountingDepth extends Number {
  #left = maxNodes

  override valueOf(): number {
    if (--this.#left < 0) throw tooManyValues()
    return super.valueOf()
  }
}

/** Parses a text of one or more documents. Throws 413 and YAMLException. */
function parseToEvents(text: string): Event[] {
  // The parser uses it only in comparisons and in a message, where it acts like a number.
  const events = parseEvents(text, { maxDepth: new CountingDepth(maxDepth) as unknown as number })
  if (events.length > maxEvents) throw tooManyValues()
  return events
}

/** Matches numbers such as 1e400, which YAML reads as strings. */
const beyondFloat = /\d[eE]\+?\d{3}/

/**
 * Parses the text with JSON.parse, which is many times faster: most clients send JSON, which is YAML too. Returns
 * undefined for other YAML and if a key is repeated, which only the YAML reader reports.
 */
function parseAsJson(text: string): unknown {
  if (!text.startsWith('{') || beyondFloat.test(text)) return undefined
  checkValues(text)
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch {
    return undefined
  }
  const count = { keys: 0 }
  const sorted = sortKeys(value, count, 0)
  return countKeys(text) === count.keys ? sorted : undefined
}

/**
 * Cuts documents off that are not read: the first document ends at the third marker at the latest, even if a marker is
 * part of a block scalar.
 */
function firstDocuments(text: string): string {
  const marker = /^---(?=\s|$)/gm
  let markers = 0
  for (let match = marker.exec(text); match; match = marker.exec(text))
    if (++markers === 3) return text.slice(0, match.index)
  return text
}

export interface ParsedYaml {
  /** The value of the first document, or null if there is none. */
  readonly value: unknown
  /** The errors of a strict reader for repeated keys, of which the last one counts. Empty if there are none. */
  readonly strict: readonly string[]
}

/** Reads the first document of a text. Throws YamlError. */
export function parseYaml(text: string): ParsedYaml {
  try {
    const json = parseAsJson(text)
    if (json !== undefined) return { value: json, strict: [] }
    const events = parseToEvents(firstDocuments(text))
    hasRepeatedKey = false
    const [document = null] = constructFromEvents(events, { source: text, schema, json: true })
    const repeated = hasRepeatedKey ? repeatedKeys(text, events) : []
    return {
      value: expand(document, { left: Math.max(minExpansionLimit, text.length) }, 0),
      strict: repeated.length ? [`yaml: unmarshal errors:\n${repeated.map((line) => `  ${line}`).join('\n')}`] : [],
    }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    throw new YamlError(
      `error converting YAML to JSON: yaml: ${error.mark ? `line ${error.mark.line + 1}: ` : ''}${error.reason}`,
    )
  }
}

/** Splits the errors of a strict reader into one warning per line. */
export const strictWarnings = (strict: readonly string[]): string[] =>
  strict.flatMap((problem) =>
    problem
      .split('\n')
      .slice(1)
      .map((line) => line.trim()),
  )

/** Returns the value of the first document. Throws YamlError. */
export const fromYaml = (text: string): unknown => parseYaml(text).value

/** Writes integers beyond ±2⁵³, too. `resolve` decides which strings need quotes, as in the schema for output. */
const writtenIntegerTag = {
  ...intYaml11Tag,
  identify: (value: unknown) => typeof value === 'bigint' || intYaml11Tag.identify?.(value) === true,
  resolve: (source: string, isExplicit: boolean, tagName: string) => {
    const read = intYaml11Tag.resolve(source, isExplicit, tagName)
    return read === NOT_RESOLVED ? intCoreTag.resolve(source, isExplicit, tagName) : read
  },
}

const outputSchema = DUMP_SCHEMA.withTags(writtenIntegerTag)

/** Writes a value as one YAML document: sorted keys, no folding, unindented lists, ambiguous strings quoted. */
export const toYaml = (value: unknown): string =>
  dump(value, {
    schema: outputSchema,
    sortKeys: true,
    noRefs: true,
    lineWidth: -1,
    seqNoIndent: true,
    quoteStyle: 'double',
    skipInvalid: true,
  })
