/**
 * Sets of fields and their JSON texts. They make up a third of an object's bytes and most of its members, and objects
 * of one shape have the same, as has an object whose manager writes it again: a text that is known is neither parsed
 * nor made anew.
 */

import { randomInt } from 'node:crypto'
import { parseJson, writeJson } from '../../lib/exact-json.ts'
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../object.ts'

/** Characters of a generation of texts. There are two at most; what nobody asked for in a generation is forgotten. */
const maxCharacters = 200_000
/** A longer one would drive out too many others. */
const maxLength = 50_000

let recent = new Map<string, FieldsV1>()
let before = new Map<string, FieldsV1>()
let characters = 0
const texts = new WeakMap<FieldsV1, string>()

function keep(text: string, fields: FieldsV1): void {
  if (text.length > maxLength) return
  if (characters > maxCharacters) {
    before = recent
    recent = new Map()
    characters = 0
  }
  recent.set(text, fields)
  characters += text.length
}

function knownFields(text: string): FieldsV1 | undefined {
  const known = recent.get(text)
  if (known) return known
  const fields = before.get(text)
  // The text at hand is a part of a larger one, which would be kept with it.
  if (fields) keep(texts.get(fields)!, fields)
  return fields
}

/** Sets are never changed, so that each has one text. */
function textOf(fields: FieldsV1): string {
  const known = texts.get(fields)
  if (known !== undefined) return known
  const text = writeJson(fields)
  texts.set(fields, text)
  if (!knownFields(text)) keep(text, fields)
  return text
}

/** The JSON of `metadata.managedFields`. */
export function managedFieldsText(entries: readonly ManagedFieldsEntry[]): string {
  const sets: FieldsV1[] = []
  const bare = entries.map((entry) => {
    if (!entry.fieldsV1) return entry
    sets.push(entry.fieldsV1)
    return { ...entry, fieldsV1: 0 }
  })
  let next = 0
  // Quotes within texts are escaped: this is a member's name.
  return writeJson(bare).replaceAll('"fieldsV1":0', () => `"fieldsV1":${textOf(sets[next++]!)}`)
}

const member = '"fieldsType":"FieldsV1","fieldsV1":'

/** Stands for a set that is known. Nobody else can know it. */
const marker = randomInt(2 ** 47, 2 ** 48 - 1)

/**
 * Parses JSON as JSON.parse does, and throws as it does; of an object. What is known of its managedFields is shared by
 * all that have it, and must not be changed.
 */
export function parseSharing(text: string, parse: (text: string) => unknown = parseJson): unknown {
  const found: FieldsV1[] = []
  let rest = ''
  let from = 0
  let at = text.indexOf(member)
  while (at >= 0) {
    const start = at + member.length
    at = text.indexOf(member, start)
    const end = endOfFields(text, start, at)
    const fields = end > start && end - start <= maxLength && knownFields(text.slice(start, end))
    if (!fields) continue
    rest += `${text.slice(from, start)}${marker}`
    from = end
    found.push(fields)
  }
  // The same words may stand elsewhere in an object that somebody defined.
  return (found.length > 0 && filled(rest + text.slice(from), found, parse)) || parse(text)
}

/** Parses the JSON of an object of the store, as above. */
export const parseObject = (text: string): KubeObject => parseSharing(text) as KubeObject

/**
 * The value of a text in which markers stand for these sets; undefined if they do not stand in managedFields, or the
 * text is no JSON.
 */
function filled(text: string, sets: readonly FieldsV1[], parse: (text: string) => unknown): unknown {
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
 * Where the set that begins at `start` seems to end, if the next entry's is at `next`. A wrong guess does no harm: a
 * text that is known is a whole JSON value, and no value is the beginning of another.
 */
function endOfFields(text: string, start: number, next: number): number {
  // Only what stands between the two is looked through: there may be many that are none.
  const between = next < 0 ? text.slice(start) : text.slice(start, next + 1)
  const end = next < 0 ? between.indexOf('}]', between.indexOf(']') - 1) : between.lastIndexOf('},{"')
  // What is behind the set is the name of a subresource.
  return start + (between[end - 1] === '"' ? between.lastIndexOf(',"subresource":"', end) : end)
}
