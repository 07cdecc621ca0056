/**
 * Converts stored bytes to the current form: an object may have been written in another version, or before its schema
 * had all of its defaults.
 */
import { parseJson, writeJson } from '../../lib/exact-json.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { internal } from '../../machinery/status-error.ts'
import type { ServedResource, StoredForm } from '../registry/served-resource.ts'
import { encode } from '../registry/stored-object.ts'
import type { CustomSchema } from './custom-schema.ts'

/** A version of a definition, served or not. */
export interface CustomVersion {
  readonly resource: ServedResource
  readonly schema: CustomSchema
}

/**
 * `versions` are all versions by name. Objects get the version of `storage` if that changes only their apiVersion; with
 * a webhook they keep theirs. The returned function throws 500 for objects of removed versions.
 */
export function storedForm(
  storage: ServedResource,
  versions: ReadonlyMap<string, CustomVersion>,
  webhook: boolean,
): (value: Buffer) => StoredForm {
  const { group, version } = storage.definition
  const { schema: target } = versions.get(version)!
  return (value) => {
    const object = parseJson(value.toString()) as KubeObject
    const before = writeJson(object)
    const [, writtenAs = ''] = object.apiVersion.split('/')
    const written = versions.get(writtenAs)
    if (!written) throw internal(`request to convert CR to an invalid group/version: ${object.apiVersion}`)
    written.schema.prune(object as Unstructured)
    // Defaults of the version it was written in.
    written.schema.applyDefaults(object)
    if (!webhook && written.schema !== target) {
      object.apiVersion = `${group}/${version}`
      target.prune(object as Unstructured)
    }
    const resource = webhook ? written.resource : storage
    const isSame = value.subarray(0, resource.head.length).equals(resource.head) && writeJson(object) === before
    return { resource, value: isSame ? value : encode(resource, object) }
  }
}
