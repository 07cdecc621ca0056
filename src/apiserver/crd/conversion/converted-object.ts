/**
 * Checks an object that a webhook converted: it must be the same object, and only labels and annotations of its
 * metadata may differ.
 */
import { isObject } from '../../../machinery/fields/json.ts'
import type { KubeObject, ObjectMeta } from '../../../machinery/object.ts'
import { validateAnnotations, validateLabels } from '../../../machinery/validation/metadata.ts'

/** Beginnings of error messages: upstream's differ for a single object and one of a list. */
export interface ErrorPrefixes {
  readonly object: string
  readonly typed: string
  readonly metadata: string
}

export const errorPrefixes = (index: number, count: number): ErrorPrefixes => {
  const at = `at index ${index}`
  return count === 1
    ? {
        object: 'returned invalid object',
        typed: `returned invalid object ${at}`,
        metadata: 'returned invalid metadata',
      }
    : {
        object: `returned invalid converted object ${at}`,
        typed: `returned invalid converted object ${at}`,
        metadata: `returned invalid metadata in object ${at}`,
      }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Returns the converted object with the metadata of the original. Throws an Error if it is invalid. */
export function checkedObject(
  original: KubeObject,
  converted: unknown,
  apiVersion: string,
  prefixes: ErrorPrefixes,
): KubeObject {
  if (!isObject(converted))
    throw new Error(`${prefixes.typed}: invalid type, expected=Unstructured, got=${goType(converted)}`)
  if (Array.isArray(converted.items))
    throw new Error(`${prefixes.typed}: invalid type, expected=Unstructured, got=*unstructured.UnstructuredList`)
  if (converted.apiVersion !== apiVersion)
    throw new Error(
      `${prefixes.typed}: invalid groupVersion (expected ${apiVersion}, received ${textOf(converted.apiVersion)})`,
    )
  if (converted.kind !== original.kind)
    throw new Error(`${prefixes.typed}: invalid kind (expected ${original.kind}, received ${textOf(converted.kind)})`)
  const metadata = isObject(converted.metadata) ? converted.metadata : {}
  for (const [field, word] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata[field] ?? ''
    const after = textOf(metadata[field])
    if (before !== after) throw new Error(`${prefixes.object}: must have the same ${word}: ${before} != ${after}`)
  }
  try {
    return { ...converted, apiVersion, kind: original.kind, metadata: restored(original.metadata, converted.metadata) }
  } catch (error) {
    throw new Error(`${prefixes.metadata}: ${error instanceof Error ? error.message : error}`)
  }
}

/** The metadata of the original with the labels and annotations of the converted object. */
function restored(original: ObjectMeta, converted: unknown): ObjectMeta {
  if (converted === undefined) throw new Error('missing metadata in converted object')
  if (!isObject(converted)) throw new Error(`invalid metadata of type ${goType(converted)} in converted object`)
  const metadata: ObjectMeta = { ...original }
  for (const field of ['labels', 'annotations'] as const) {
    delete metadata[field]
    const texts = textsOf(field, converted[field])
    if (!texts) continue
    const before = original[field] ?? {}
    const names = Object.keys(texts)
    if (
      names.length !== Object.keys(before).length ||
      names.some((name) => !Object.hasOwn(before, name) || before[name] !== texts[name])
    ) {
      const faults =
        field === 'labels'
          ? validateLabels(texts, 'metadata.labels')
          : validateAnnotations(texts, 'metadata.annotation')
      const words = [...new Set(faults.map((fault) => `${fault.field}: ${fault.message}`))]
      if (words.length > 0) throw new Error(words.length === 1 ? words[0] : `[${words.join(', ')}]`)
    }
    metadata[field] = texts
  }
  return metadata
}

function textsOf(field: string, value: unknown): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) throw new Error(`invalid metadata.${field} of type ${goType(value)} in converted object`)
  for (const [name, text] of Object.entries(value))
    if (typeof text !== 'string')
      throw new Error(`metadata.${field}[${name}] must be a string, but is ${goType(text)} in converted object`)
  return value as Record<string, string>
}

function goType(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return { string: 'string', boolean: 'bool', object: 'map[string]interface {}' }[
    typeof value as 'string' | 'boolean' | 'object'
  ]
}
