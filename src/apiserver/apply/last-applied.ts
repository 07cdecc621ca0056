/** Migration from client-side to server-side apply: the annotation with the object that kubectl applied last. */
import { parseJson } from '../../lib/exact-json.ts'
import { compare } from '../../machinery/fields/compare.ts'
import { difference, emptySet } from '../../machinery/fields/field-set.ts'
import { fieldSetOf } from '../../machinery/fields/field-set-of.ts'
import { goJson, isObject, sortMembers } from '../../machinery/fields/json.ts'
import { typeErrors } from '../../machinery/fields/validate-typed.ts'
import type { FieldsV1, KubeObject } from '../../machinery/object.ts'
import { comparable, type WriteOptions } from './managed-fields/ownership.ts'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
/** All annotations together, names and values. */
const maxAnnotationBytes = 256 * 1024

/** The fields that client-side apply set and that are unchanged since; none without a readable annotation. */
export function fieldsOfLastApplied(live: KubeObject, { type, apiVersion }: WriteOptions): FieldsV1 {
  const applied = parse(live.metadata.annotations?.[annotation])
  if (!isObject(applied) || applied.apiVersion !== apiVersion || typeErrors(applied, type).length) return emptySet
  const { added, modified, removed } = compare(applied, comparable(live), type)
  return difference(difference(difference(fieldSetOf(applied, type), modified), added), removed)
}

function parse(text: string | undefined): unknown {
  try {
    return text && parseJson(text)
  } catch {
    return undefined
  }
}

/**
 * Returns the object with its last-applied annotation updated, if it has one. Removes the annotation when all
 * annotations together would be too large.
 */
export function updateLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  const { annotations } = object.metadata ?? {}
  if (!annotations?.[annotation]) return object
  const { [annotation]: _, ...rest } = applied.metadata?.annotations ?? {}
  const metadata = { ...applied.metadata, ...(applied.metadata?.annotations && { annotations: rest }) }
  const text = `${goJson(sortMembers({ ...applied, metadata }))}\n`
  if (annotations[annotation] === text) return object
  const { [annotation]: __, ...others } = annotations
  const bytes = Object.entries({ ...others, [annotation]: text }).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  )
  return {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: bytes > maxAnnotationBytes ? others : { ...others, [annotation]: text },
    },
  }
}
