/**
 * Brings what the store holds into the form of today's storage version: objects may have been written under another version,
 * or before its schema had all of its defaults.
 */
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { internal } from '../../machinery/status-error.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { encode } from '../registry/stored-object.ts'
import type { CustomSchema } from './custom-schema.ts'

/** `schemas` are those of all versions, served or not. The function throws 500 for objects of versions that are no more. */
export function storedForm(storage: ServedResource, schemas: ReadonlyMap<string, CustomSchema>): (value: Buffer) => Buffer {
  const { group, version } = storage.definition
  const target = schemas.get(version)!
  return (value) => {
    const object = JSON.parse(value.toString()) as KubeObject
    const before = JSON.stringify(object)
    const [, writtenAs = ''] = object.apiVersion.split('/')
    const schema = schemas.get(writtenAs)
    if (!schema) throw internal(`request to convert CR to an invalid group/version: ${object.apiVersion}`)
    schema.prune(object as Unstructured)
    // Defaults are those of the version that it was written under.
    schema.complete(object)
    if (schema !== target) {
      object.apiVersion = `${group}/${version}`
      target.prune(object as Unstructured)
    }
    return value.subarray(0, storage.head.length).equals(storage.head) && JSON.stringify(object) === before ? value : encode(storage, object)
  }
}
