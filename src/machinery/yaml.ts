/**
 * YAML as Kubernetes reads and writes it (sigs.k8s.io/yaml): scalars by YAML 1.1 (`yes` and `y` are booleans, `0644` is
 * octal), output with sorted keys and everything quoted that a 1.1 reader could take for something else.
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
import { integer as exact, parseWholeJson } from '../lib/exact-json.ts'
import { setOwn } from '../lib/own.ts'
import { countKeys } from './decode/duplicate-keys.ts'
import { checkValues, maxValues, tooManyValues } from './decode/limits/value-limit.ts'

/** The text is no YAML, or would become too big: in the words of Go's converter. */
export class YamlError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'YamlError'
  }
}

/** How deep YAML may be nested. */
const maxDepth = 500
const tooDeep = 'error converting YAML to JSON: yaml: exceeded max depth'

/** How many values aliases may multiply a text into: this many, or as many as the text has bytes. */
const leastExpansion = 100_000

const integer = /^([-+]?)(?:0b([01_]+)|0x([0-9a-fA-F_]+)|0o?([0-7_]+)|(0|[1-9][0-9_]*))$/

/** The largest integer of Go's reader of YAML; larger ones are floats to it. */
const mostUint64 = 2n ** 64n - 1n
const leastInt64 = -(2n ** 63n)

/** The integer that the digits mean. */
function longInteger(digits: string, prefix: string, isNegative: boolean): number | bigint {
  const size = BigInt(`${prefix}${digits}`)
  const value = isNegative ? -size : size
  return value > mostUint64 || value < leastInt64 ? Number(value) : exact(value)
}

/** Integers as Go's ParseInt and ParseUint read them with base 0. */
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

/** Set by the mapping tag when a key comes twice; reading is synchronous. */
let keyRepeated = false

const mappingTag = {
  ...mapTag,
  addPair: (carrier: Record<string, unknown>, key: unknown, value: unknown): string => {
    // A map for a key is refused below; it may say `toString` itself.
    if ((typeof key !== 'object' || key === null) && Object.hasOwn(carrier, String(key))) keyRepeated = true
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

/** Where an event's value begins in the text. */
function startOf(event: Event): number {
  if (event.type === EVENT_ID.SCALAR) return event.valueStart
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart
  return 'start' in event ? event.start : 0
}

/** `line 4: key "name" already set in map` for every key that a mapping has twice, as Go's strict reader says it. */
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

/** A copy without shared parts (aliases are expanded) whose keys are sorted, as a Go map comes out as JSON. */
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
 * The value of a JSON text with the keys of all objects in order, as Go's clients mostly send them: those objects stay
 * themselves. Counts keys.
 */
function inOrder(value: unknown, count: { keys: number }, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxDepth) throw new YamlError(tooDeep)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = inOrder(value[i], count, depth + 1)
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
    const ordered = inOrder(member, count, depth + 1)
    if (ordered !== member) setOwn(object, key, ordered)
  }
  if (isSorted) return object
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(object).sort()) setOwn(result, key, object[key])
  return result
}

/** Every value has an event, collections and documents another one for their end. */
const maxEvents = 2 * maxValues

/** The parser comes to what makes an event twice at most: keys behind a `?`, scalars in lists of blocks. */
const maxNodes = 2 * maxEvents

/**
 * A bound for the depth that counts how often it is compared, which the parser does at every node: a text of millions
 * of them is refused after the first, not when all of them were read.
 */
class CountingDepth extends Number {
  #left = maxNodes

  override valueOf(): number {
    if (--this.#left < 0) throw tooManyValues()
    return super.valueOf()
  }
}

/** Reads the text of a document or several. Throws 413, and YAMLException. */
function eventsOf(text: string): Event[] {
  // Only used in comparisons and in a message, where it is as good as a number.
  const events = parseEvents(text, { maxDepth: new CountingDepth(maxDepth) as unknown as number })
  if (events.length > maxEvents) throw tooManyValues()
  return events
}

/** Such as 1e400, which is a text in YAML. */
const beyondFloat = /\d[eE]\+?\d{3}/

/**
 * JSON is YAML too, and is what clients mostly send: JSON.parse is many times faster. Undefined for other YAML, and
 * where a key stands twice, which only the reader of YAML tells.
 */
function asJson(text: string): unknown {
  if (!text.startsWith('{') || beyondFloat.test(text)) return undefined
  checkValues(text)
  let value: unknown
  try {
    value = parseWholeJson(text)
  } catch {
    return undefined
  }
  const count = { keys: 0 }
  const ordered = inOrder(value, count, 0)
  return countKeys(text) === count.keys ? ordered : undefined
}

/**
 * The text without documents that nobody reads: the first ends where the third marker stands at the latest, whatever it
 * holds.
 */
function firstDocuments(text: string): string {
  const marker = /^---(?=\s|$)/gm
  let markers = 0
  for (let match = marker.exec(text); match; match = marker.exec(text))
    if (++markers === 3) return text.slice(0, match.index)
  return text
}

export interface ParsedYaml {
  /** What the text's first document says; null if there is none. */
  readonly value: unknown
  /** What a strict reader says of keys that stand twice (the last one counts); empty when all is well. */
  readonly strict: readonly string[]
}

/** Reads the first document of a text. Throws YamlError. */
export function parseYaml(text: string): ParsedYaml {
  try {
    const json = asJson(text)
    if (json !== undefined) return { value: json, strict: [] }
    const events = eventsOf(firstDocuments(text))
    keyRepeated = false
    const [document = null] = constructFromEvents(events, { source: text, schema, json: true })
    const repeated = keyRepeated ? repeatedKeys(text, events) : []
    return {
      value: expand(document, { left: Math.max(leastExpansion, text.length) }, 0),
      strict: repeated.length ? [`yaml: unmarshal errors:\n${repeated.map((line) => `  ${line}`).join('\n')}`] : [],
    }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    throw new YamlError(
      `error converting YAML to JSON: yaml: ${error.mark ? `line ${error.mark.line + 1}: ` : ''}${error.reason}`,
    )
  }
}

/** The lines of what a strict reader says, each a warning of its own. */
export const strictWarnings = (strict: readonly string[]): string[] =>
  strict.flatMap((problem) =>
    problem
      .split('\n')
      .slice(1)
      .map((line) => line.trim()),
  )

/** What the text's first document says. Throws YamlError. */
export const fromYaml = (text: string): unknown => parseYaml(text).value

/** Integers beyond ±2⁵³ too. What texts could be taken for a number is as in the schema for output. */
const writtenIntegerTag = {
  ...intYaml11Tag,
  identify: (value: unknown) => typeof value === 'bigint' || intYaml11Tag.identify?.(value) === true,
  resolve: (source: string, isExplicit: boolean, tagName: string) => {
    const read = intYaml11Tag.resolve(source, isExplicit, tagName)
    return read === NOT_RESOLVED ? intCoreTag.resolve(source, isExplicit, tagName) : read
  },
}

const outputSchema = DUMP_SCHEMA.withTags(writtenIntegerTag)

/**
 * A value as one YAML document: keys sorted, nothing folded, lists not indented, ambiguous strings in double quotes.
 */
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
