/** Objects in their stored form: bytes are concatenated, never parsed. */
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

const representations = new WeakMap<ServedResource, Representation>()

export function nativeRepresentation(resource: ServedResource): Representation {
  let representation = representations.get(resource)
  if (!representation) representations.set(resource, (representation = native(resource)))
  return representation
}

const native = (resource: ServedResource): Representation => ({
  key: 'json',
  contentType: 'application/json',
  firstDiffers: false,
  object: ({ bytes }) => [bytes],
  list(objects, meta) {
    const head = Buffer.from(
      `{"kind":${JSON.stringify(resource.listKind)},"apiVersion":${JSON.stringify(resource.groupVersion)},` +
        `"metadata":${JSON.stringify(resource.definition.custom ? { continue: '', ...meta } : meta)},"items":[`,
    )
    if (objects.length === 0) return [head, listTail]
    const items = itemsOf(objects)
    return Buffer.isBuffer(items) ? [head, items, listTail] : enclosed(head, items, listTail)
  },
  event: (type, { bytes }) => Buffer.concat([eventHeads[type], bytes, eventTail]),
  bookmark: (revision, annotations) =>
    Buffer.from(
      `{"type":"BOOKMARK","object":{"kind":${JSON.stringify(resource.definition.kind)},` +
        `"apiVersion":${JSON.stringify(resource.groupVersion)},"metadata":${bookmarkMeta(revision, annotations)}}}\n`,
    ),
})

/**
 * The encoded items of a selection whose last list was requested twice: clients that start together read the same list.
 */
const cachedItems = new WeakMap<StoredObject, CachedItems>()

interface CachedItems {
  /** Weak, as the list of a large resource would retain old versions of all its objects. */
  readonly objects: WeakRef<readonly StoredObject[]>
  items?: Buffer
}

/** In bytes. Smaller lists are encoded each time, larger ones would occupy memory for long. */
const minCached = 64 * 1024
const maxCached = 64 * 1024 * 1024

const sizeOfItem = ({ size, resource }: StoredObject): number => 1 + size - resource.itemOffset

/** `{item},{item},…`; large lists in pieces, each encoded when needed. */
function itemsOf(objects: readonly StoredObject[]): Buffer | Pieces {
  let size = objects.length - 1
  for (const object of objects) size += sizeOfItem(object)
  if (size <= minCached) return joined(objects, 0, objects.length, size)
  const cached = cachedOf(objects)
  if (!cached) cachedItems.set(objects[0]!, { objects: new WeakRef(objects) })
  else if (size <= maxCached) cached.items ??= joined(objects, 0, objects.length, size)
  return { size, [Symbol.iterator]: () => piecesOf(objects) }
}

function cachedOf(objects: readonly StoredObject[]): CachedItems | undefined {
  const cached = cachedItems.get(objects[0]!)
  return cached?.objects.deref() === objects ? cached : undefined
}

function* piecesOf(objects: readonly StoredObject[]): Generator<Buffer, void> {
  let offset = 0
  for (let from = 0; from < objects.length; ) {
    let to = from
    // There is no comma before the first item.
    let size = from > 0 ? 0 : -1
    while (to < objects.length && size < pieceBytes) size += 1 + sizeOfItem(objects[to++]!)
    // Looked up each time: a slow reader must not retain the whole list.
    const items = cachedOf(objects)?.items
    yield items ? items.subarray(offset, offset + size) : joined(objects, from, to, size)
    offset += size
    from = to
  }
}

/** Items `from` to `to` in one buffer, with a comma before each except the first of the list. */
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
