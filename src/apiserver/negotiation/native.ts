/** Objects as they are: bytes are joined, never parsed. */
import type { Pieces } from '../http/exchange.ts'
import { bookmarkMeta, type EventType, type Representation } from '../registry/cache/representation.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { StoredObject } from '../registry/stored-object.ts'
import { enclosed, pieceBytes } from './pieces.ts'

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
      `{"kind":${JSON.stringify(resource.listKind)},"apiVersion":${JSON.stringify(resource.groupVersion)},"metadata":${JSON.stringify(resource.definition.custom ? { continue: '', ...meta } : meta)},"items":[`,
    )
    if (objects.length === 0) return [head, listTail]
    const items = itemsOf(objects)
    return Buffer.isBuffer(items) ? [head, items, listTail] : enclosed(head, items, listTail)
  },
  event: (type, { bytes }) => Buffer.concat([eventHeads[type], bytes, eventTail]),
  bookmark: (revision, annotations) =>
    Buffer.from(
      `{"type":"BOOKMARK","object":{"kind":${JSON.stringify(resource.definition.kind)},"apiVersion":${JSON.stringify(resource.groupVersion)},"metadata":${bookmarkMeta(revision, annotations)}}}\n`,
    ),
})

/**
 * The items of the last list of a selection that was asked for twice: consumers that start together all read the same.
 */
const remembered = new WeakMap<StoredObject, Asked>()

interface Asked {
  /** Of a large resource, a list that nobody reads any more would keep old states of all its objects. */
  readonly objects: WeakRef<readonly StoredObject[]>
  items?: Buffer
}

/** Smaller lists are joined each time, larger ones would take memory for long. */
const leastRemembered = 64 * 1024
const mostRemembered = 64 * 1024 * 1024

const sizeOfItem = ({ size, resource }: StoredObject): number => 1 + size - resource.itemOffset

/** `{item},{item},…`; large lists in pieces, each joined when its turn comes. */
function itemsOf(objects: readonly StoredObject[]): Buffer | Pieces {
  let size = objects.length - 1
  for (const object of objects) size += sizeOfItem(object)
  if (size <= leastRemembered) return joined(objects, 0, objects.length, size)
  const asked = askedOf(objects)
  if (!asked) remembered.set(objects[0]!, { objects: new WeakRef(objects) })
  else if (size <= mostRemembered) asked.items ??= joined(objects, 0, objects.length, size)
  return { size, [Symbol.iterator]: () => piecesOf(objects) }
}

function askedOf(objects: readonly StoredObject[]): Asked | undefined {
  const asked = remembered.get(objects[0]!)
  return asked?.objects.deref() === objects ? asked : undefined
}

function* piecesOf(objects: readonly StoredObject[]): Generator<Buffer, void> {
  let offset = 0
  for (let from = 0; from < objects.length; ) {
    let to = from
    // No comma stands before the first.
    let size = from > 0 ? 0 : -1
    while (to < objects.length && size < pieceBytes) size += 1 + sizeOfItem(objects[to++]!)
    // Looked up each time: a slow reader must not keep the whole of it.
    const items = askedOf(objects)?.items
    yield items ? items.subarray(offset, offset + size) : joined(objects, from, to, size)
    offset += size
    from = to
  }
}

/** Items `from` to `to` in one buffer, with a comma before each but the very first. */
function joined(objects: readonly StoredObject[], from: number, to: number, size: number): Buffer {
  const items = Buffer.allocUnsafe(size)
  let offset = 0
  for (let i = from; i < to; i++) {
    if (i > 0) items[offset++] = comma
    items[offset++] = openBrace
    const { bytes, resource } = objects[i]!
    offset += bytes.copy(items, offset, resource.itemOffset)
  }
  return items
}
