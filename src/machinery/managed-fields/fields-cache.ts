/**
 * A cache of field sets and their JSON. They are a third of an object's bytes and most of its members. Objects of the
 * same form have equal sets, and so has an object after another write of its manager: cached texts are neither parsed
 * nor written twice.
 */

import { randomInt } from 'node:crypto'
import { parseJson, writeJson } from '../../lib/exact-json.ts'
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../object.ts'

/** The limit of characters per generation. There are two generations; texts that are not used in one are dropped. */
const maxCharacters = 200_000
/** The limit of characters per text. A longer one would displace too many others. */
const maxLength = 50_000

let recent = new Map<string, FieldsV1>()
let previous = new Map<string, FieldsV1>()
let characters = 0
const texts = new WeakMap<FieldsV1, string>()

function cacheFields(text: string, fields: FieldsV1): void {
  if (text.length > maxLength) return
  if (characters > maxCharacters) {
    previous = recent
    recent = new Map()
    characters = 0
  }
  recent.set(text, fields)
  characters += text.length
}

function cachedFields(text: string): FieldsV1 | undefined {
  const known = recent.get(text)
  if (known) return known
  const fields = previous.get(text)
  // Uses the cached text, because `text` is a slice of a larger string, which it would retain.
  if (fields) cacheFields(texts.get(fields)!, fields)
  return fields
}

/** Returns the set of a JSON text, shared with all objects that have it. Throws like JSON.parse. */
export function fieldsOf(text: string): FieldsV1 {
  const known = cachedFields(text)
  if (known) return known
  const fields = parseJson(text) as FieldsV1
  // Its own text is cached, which is nearly always the same.
  textOf(fields)
  return fields
}

/** Returns the JSON of a set. Sets are immutable, so that it can be cached. */
export function textOf(fields: FieldsV1): string {
  const known = texts.get(fields)
  if (known !== undefined) return known
  const text = writeJson(fields)
  texts.set(fields, text)
  if (!cachedFields(text)) cacheFields(text, fields)
  return text
}

/** Returns the JSON of `metadata.managedFields`. */
export function managedFieldsText(entries: readonly ManagedFieldsEntry[]): string {
  const sets: FieldsV1[] = []
  const withoutSets = entries.map((entry) => {
    if (!entry.fieldsV1) return entry
    sets.push(entry.fieldsV1)
    return { ...entry, fieldsV1: 0 }
  })
  let next = 0
  // Quotes inside strings are escaped, so this matches only a member's name.
  return writeJson(withoutSets).replaceAll('"fieldsV1":0', () => `"fieldsV1":${textOf(sets[next++]!)}`)
}

const member = '"fieldsType":"FieldsV1","fieldsV1":'

/** A placeholder for a cached set. Random, so that clients cannot send it. */
const marker = randomInt(2 ** 47, 2 ** 48 - 1)

/**
 * Parses the JSON of an object, and throws like JSON.parse. Cached sets in its managedFields are shared, and must not
 * be changed.
 */
export function parseWithSharedFields(text: string, parse: (text: string) => unknown = parseJson): unknown {
  const found: FieldsV1[] = []
  let rest = ''
  let from = 0
  let at = text.indexOf(member)
  while (at >= 0) {
    const start = at + member.length
    at = text.indexOf(member, start)
    const end = endOfFields(text, start, at)
    const fields = end > start && end - start <= maxLength && cachedFields(text.slice(start, end))
    if (!fields) continue
    rest += `${text.slice(from, start)}${marker}`
    from = end
    found.push(fields)
  }
  // The object may have the same text elsewhere, in which case it is parsed without the cache.
  return (found.length > 0 && replaceMarkers(rest + text.slice(from), found, parse)) || parse(text)
}

/** Parses the JSON of a stored object with shared sets. */
export const parseObject = (text: string): KubeObject => parseWithSharedFields(text) as KubeObject

/**
 * Parses a text with markers and replaces them by the sets. Returns undefined if the markers are not in managedFields,
 * or the text is not JSON.
 */
function replaceMarkers(text: string, sets: readonly FieldsV1[], parse: (text: string) => unknown): unknown {
  let value: { readonly metadata?: { readonly managedFields?: unknown } | null } | null
  try {
    value = parse(text) as typeof value
  } catch {
    return undefined
  }
  const entries = value?.metadata?.managedFields
  if (!Array.isArray(entries)) return undefined
  let next = 0
  for (const entry of entries as ({ fieldsV1?: unknown } | null)[])
    if (entry?.fieldsV1 === marker) entry.fieldsV1 = sets[next++]
  return next === sets.length ? value : undefined
}

/**
 * Guesses the end of the set that begins at `start`, if the next entry's set is at `next`. A wrong guess is harmless: a
 * cached text is a complete JSON value, and no value is a prefix of another.
 */
function endOfFields(text: string, start: number, next: number): number {
  // Searches only between the two, because a text may have many matches that are not sets.
  const between = next < 0 ? text.slice(start) : text.slice(start, next + 1)
  const end = next < 0 ? between.indexOf('}]', between.indexOf(']') - 1) : between.lastIndexOf('},{"')
  // A subresource may follow the set.
  return start + (between[end - 1] === '"' ? between.lastIndexOf(',"subresource":"', end) : end)
}
