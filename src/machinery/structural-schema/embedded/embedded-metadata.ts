/** The apiVersion, kind and ObjectMeta of embedded resources (`x-kubernetes-embedded-resource`). */
import { setOwn } from '../../../lib/own.ts'
import { DecodeError, decode } from '../../decode/index.ts'
import { isObject, type JsonObject, sortMembers } from '../../fields/json.ts'
import type { ObjectMeta } from '../../object.ts'
import { type FieldError, invalidValue, required } from '../../validation/field-error.ts'
import { validateMetadata } from '../../validation/metadata.ts'
import { dns1035Label, pathSegment } from '../../validation/names.ts'
import { memberSchema, type StructuralSchema } from '../schema.ts'
import { objectMetaType } from './object-meta.ts'

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

/** Calls `visit` for every embedded resource in a value, outer ones first, until it returns true. */
function visitEmbedded(
  value: unknown,
  schema: StructuralSchema | undefined,
  path: string,
  visit: (resource: JsonObject, path: string) => boolean,
): boolean {
  if (!schema?.has.embedded || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++)
      if (visitEmbedded(value[i], schema.items, `${path}[${i}]`, visit)) return true
    return false
  }
  if (!isObject(value)) return false
  if (schema.embedded && visit(value, path)) return true
  for (const name in value) {
    const below = memberSchema(schema, name)
    if (!below?.has.embedded) continue
    const named = schema.properties?.has(name) ? join(path, name) : `${path}[${name}]`
    if (visitEmbedded(value[name], below, named, visit)) return true
  }
  return false
}

/**
 * Removes fields that ObjectMeta does not have from the metadata of embedded resources, and adds their paths to
 * `pruned`. Metadata that cannot be decoded as ObjectMeta is not changed.
 */
export function pruneMetadata(object: unknown, schema: StructuralSchema, path: string, pruned: string[]): void {
  visitEmbedded(object, schema, path, (resource, at) => {
    if (!isObject(resource.metadata)) return false
    const decoded = decodedMetadata(resource.metadata)
    if (decoded instanceof DecodeError) return false
    for (const unknown of decoded.unknown) pruned.push(`${join(at, 'metadata')}.${unknown}`)
    setOwn(resource, 'metadata', decoded.object)
    return false
  })
}

function decodedMetadata(metadata: unknown): ReturnType<typeof decode> | DecodeError {
  try {
    return decode(objectMetaType, metadata)
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
}

/**
 * Returns the error of the first embedded resource whose apiVersion, kind or metadata cannot be decoded. Such objects
 * are rejected with 400.
 */
export function embeddedDecodeFault(object: unknown, schema: StructuralSchema, path = ''): FieldError | undefined {
  let fault: FieldError | undefined
  visitEmbedded(object, schema, path, (resource, at) => {
    fault = decodeFault(resource, at)
    return fault !== undefined
  })
  return fault
}

function decodeFault(resource: JsonObject, path: string): FieldError | undefined {
  for (const name of ['apiVersion', 'kind'])
    if (Object.hasOwn(resource, name) && typeof resource[name] !== 'string')
      return invalidValue(join(path, name), sortMembers(resource[name]), 'must be a string')
  if (!Object.hasOwn(resource, 'metadata') || resource.metadata === null) return undefined
  const decoded = decodedMetadata(resource.metadata)
  return decoded instanceof DecodeError
    ? invalidValue(join(path, 'metadata'), sortMembers(resource.metadata), decoded.message)
    : undefined
}

/** Returns the errors of all embedded resources. */
export function embeddedFaults(object: unknown, schema: StructuralSchema, path = ''): FieldError[] {
  const faults: FieldError[] = []
  visitEmbedded(object, schema, path, (resource, at) => {
    resourceFaults(resource, at, faults)
    return false
  })
  return faults
}

function resourceFaults(resource: JsonObject, path: string, faults: FieldError[]): void {
  const { apiVersion, kind } = resource
  const decode = decodeFault(resource, path)
  if (decode) faults.push(decode)
  if (apiVersion === undefined) faults.push(required(join(path, 'apiVersion')))
  else if (apiVersion === '') faults.push(invalidValue(join(path, 'apiVersion'), '', 'must not be empty'))
  else if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2)
    faults.push(invalidValue(join(path, 'apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  if (kind === undefined) faults.push(required(join(path, 'kind')))
  else if (kind === '') faults.push(invalidValue(join(path, 'kind'), '', 'must not be empty'))
  else if (typeof kind === 'string') {
    const messages = dns1035Label(kind.toLowerCase())
    if (messages.length > 0)
      faults.push(
        invalidValue(
          join(path, 'kind'),
          kind,
          `may have mixed case, but should otherwise match: ${messages.join(',')}`,
        ),
      )
  }
  if (isObject(resource.metadata) && !decode) {
    const meta: ObjectMeta = { ...resource.metadata }
    // A name is not required here, but has to be valid if there is one.
    if (!meta.name) meta.name = 'fakename'
    faults.push(
      ...validateMetadata(meta, { namespaced: Boolean(meta.namespace), nameRule: pathSegment }, join(path, 'metadata')),
    )
  }
}
