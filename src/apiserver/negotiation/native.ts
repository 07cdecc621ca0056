/** Objects as they are: bytes are joined, never parsed. */
import type { ServedResource } from '../registry/served-resource.ts'
import type { StoredObject } from '../registry/stored-object.ts'
import { bookmarkMeta, type EventType, type Representation } from './representation.ts'

const eventHeads: Readonly<Record<EventType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
}
const eventTail = Buffer.from('}\n')
const listTail = Buffer.from(']}\n')
const openBrace = 0x7b
const comma = 0x2c

const made = new WeakMap<ServedResource, Representation>()

export function nativeRepresentation(resource: ServedResource): Representation {
  let representation = made.get(resource)
  if (!representation) made.set(resource, (representation = native(resource)))
  return representation
}

const native = (resource: ServedResource): Representation => ({
  key: 'json',
  contentType: 'application/json',
  firstDiffers: false,
  object: ({ bytes }) => [bytes],
  list(objects, meta) {
    const head = Buffer.from(
      `{"kind":${JSON.stringify(resource.listKind)},"apiVersion":${JSON.stringify(resource.groupVersion)},"metadata":${JSON.stringify(meta)},"items":[`,
    )
    return objects.length ? [head, joined(objects), listTail] : [head, listTail]
  },
  event: (type, { bytes }) => Buffer.concat([eventHeads[type], bytes, eventTail]),
  bookmark: (revision, annotations) =>
    Buffer.from(
      `{"type":"BOOKMARK","object":{"kind":${JSON.stringify(resource.definition.kind)},"apiVersion":${JSON.stringify(resource.groupVersion)},"metadata":${bookmarkMeta(revision, annotations)}}}\n`,
    ),
})

/** The items of the last list of a selection that was asked for twice: consumers that start together all read the same. */
const remembered = new WeakMap<StoredObject, { readonly objects: readonly StoredObject[]; readonly items: Buffer }>()

/** `{item},{item},…` in one buffer. */
function joined(objects: readonly StoredObject[]): Buffer {
  const known = remembered.get(objects[0]!)
  if (known && known.objects === objects) return known.items
  let size = objects.length * 2 - 1
  for (const { bytes, resource } of objects) size += bytes.length - resource.itemOffset
  const items = Buffer.allocUnsafe(size)
  let offset = 0
  for (let i = 0; i < objects.length; i++) {
    if (i > 0) items[offset++] = comma
    items[offset++] = openBrace
    const { bytes, resource } = objects[i]!
    offset += bytes.copy(items, offset, resource.itemOffset)
  }
  if (size > 64 * 1024) remembered.set(objects[0]!, { objects, items })
  return items
}
