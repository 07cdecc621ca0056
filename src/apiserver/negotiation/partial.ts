/** PartialObjectMetadata: the metadata of objects of any kind, cut from their bytes. */

import { bookmarkMeta, type ListMeta, type Representation } from '../registry/cache/representation.ts'
import type { StoredObject } from '../registry/stored-object.ts'
import { gathered } from './pieces.ts'

const tail = Buffer.from('}')
const comma = Buffer.from(',')

/** `{"kind":"PartialObjectMetadata",…,"metadata":` for a version of meta.k8s.io. */
export const partialHead = (version: string): Buffer =>
  Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`)

export function partialRepresentation(version: 'v1' | 'v1beta1'): Representation {
  const head = partialHead(version)
  const one = (object: StoredObject): readonly Buffer[] => [head, object.metadata, tail]
  function* items(objects: readonly StoredObject[], meta: ListMeta): Generator<Buffer, void> {
    yield Buffer.from(
      `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}",` +
        `"metadata":${JSON.stringify(meta)},"items":[`,
    )
    for (const [i, object] of objects.entries()) {
      if (i > 0) yield comma
      yield* one(object)
    }
    yield Buffer.from(']}\n')
  }
  return {
    key: `partial ${version}`,
    contentType: 'application/json',
    firstDiffers: false,
    object: one,
    list: (objects, meta) => gathered(items(objects, meta)),
    event: (type, object) =>
      Buffer.concat([Buffer.from(`{"type":"${type}","object":`), ...one(object), Buffer.from('}\n')]),
    bookmark: (revision, annotations) =>
      Buffer.from(
        `{"type":"BOOKMARK","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}",` +
          `"metadata":${bookmarkMeta(revision, annotations)}}}\n`,
      ),
  }
}
