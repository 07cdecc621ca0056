/**
 * Brings what the store holds into today's form: objects may have been written under another version, or before its
 * schema had all of its defaults.
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
 * `versions` are all there are, by name. Objects get the version of `storage` here if that is a change of their
 * apiVersion alone; with a webhook they stay in theirs. The function throws 500 for objects of versions that are no
 * more.
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
    // Defaults are those of the version that it was written under.
    written.schema.complete(object)
    if (!webhook && written.schema !== target) {
      object.apiVersion = `${group}/${version}`
      target.prune(object as Unstructured)
    }
    const resource = webhook ? written.resource : storage
    const isSame = value.subarray(0, resource.head.length).equals(resource.head) && writeJson(object) === before
    return { resource, value: isSame ? value : encode(resource, object) }
  }
}
