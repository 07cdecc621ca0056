/**
 * One revision of one object as the server keeps it: the JSON bytes that clients get, encoded once. What needs fields
 * (selectors, tables) parses them when first asked and keeps only what it needs.
 *
 * In the store the bytes lack `metadata.resourceVersion`, which nobody knows before the commit; it is put in as the
 * first member of metadata when the object comes back.
 */

import { isDeepStrictEqual } from 'node:util'
import { writeJson } from '../../lib/exact-json.ts'
import { managedFieldsText, parseObject } from '../../machinery/managed-fields/fields-cache.ts'
import type { KubeObject, ObjectMeta } from '../../machinery/object.ts'
import { difference, restored } from './packing/difference.ts'
import type { RowTemplate } from './printing/row.ts'
import type { ServedResource } from './served-resource.ts'

const nothing: Readonly<Record<string, string>> = Object.freeze({})

/** What selectors look at. */
export interface Summary {
  readonly labels: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string>>
}

/** That of an object of which nothing but metadata has changed. */
export const summaryWith = ({ labels = nothing }: ObjectMeta, { fields }: Summary): Summary => ({ labels, fields })

/** The same summary, with the other's labels and texts where it says the same. */
function summaryLike({ labels, fields }: Summary, like: Summary): Summary {
  const shared: Record<string, string> = {}
  for (const field in fields)
    shared[field] = fields[field] === like.fields[field] ? like.fields[field]! : fields[field]!
  return { labels: isDeepStrictEqual(labels, like.labels) ? like.labels : labels, fields: shared }
}

export function summarize(resource: ServedResource, object: KubeObject): Summary {
  const { selectableFields } = resource.definition
  const labels = object.metadata.labels ?? nothing
  if (!selectableFields) return { labels, fields: nothing }
  const fields: Record<string, string> = {}
  for (const field in selectableFields) fields[field] = selectableFields[field]!(object) ?? ''
  return { labels, fields }
}

export class StoredObject {
  readonly resource: ServedResource
  readonly key: string
  /** 0 for objects that are not stored (dry runs). */
  readonly revision: number
  /** How many bytes there are. */
  readonly size: number
  /** The bytes, or what sets them apart from those of the pattern. */
  #kept: Buffer | string
  #pattern: StoredObject | undefined
  #summary: Summary | undefined
  #metadataEnd = 0
  /** The object's table row, once it was printed. */
  row: RowTemplate | undefined
  /** Whether the store holds it in an older form or version: writing it as it is shown is a change. */
  outdated = false
  /** Whether it was written here, and its spec has passed the rules of today. */
  validSpec = false
  /** The stored object that this one was made of, where that takes time. */
  base: StoredObject | undefined

  constructor(resource: ServedResource, key: string, revision: number, bytes: Buffer, summary?: Summary) {
    this.resource = resource
    this.key = key
    this.revision = revision
    this.size = bytes.length
    this.#kept = bytes
    this.#summary = summary
  }

  /** Made anew each time where the object is packed: ask once. */
  get bytes(): Buffer {
    return typeof this.#kept === 'string' ? restored(this.#pattern!.bytes, this.#kept) : this.#kept
  }

  get isPacked(): boolean {
    return this.#pattern !== undefined
  }

  /**
   * Keeps what sets the object apart from the pattern, which is not packed, instead of its bytes. Does nothing and
   * gives false if that would be more than `most` bytes.
   */
  pack(pattern: StoredObject, most: number): boolean {
    const kept = difference(pattern.bytes, this.bytes, most)
    if (kept === undefined) return false
    this.#kept = kept
    this.#pattern = pattern
    if (this.#summary && pattern.#summary) this.#summary = summaryLike(this.#summary, pattern.#summary)
    return true
  }

  get name(): string {
    return this.key.slice(this.key.lastIndexOf('/') + 1)
  }

  get namespace(): string {
    if (!this.resource.namespaced) return ''
    const end = this.key.lastIndexOf('/')
    return this.key.slice(this.key.lastIndexOf('/', end - 1) + 1, end)
  }

  /** A fresh copy that the caller may change, but for the sets of fields in it. */
  parse<T extends KubeObject = KubeObject>(): T {
    return parseObject(this.bytes.toString()) as T
  }

  /** Its metadata alone, as above. */
  parseMetadata(): ObjectMeta {
    return parseObject(`{"metadata":${this.metadata}}`).metadata
  }

  get summary(): Summary {
    return (this.#summary ??= summarize(this.resource, this.parse()))
  }

  /**
   * The bytes as list items have them, without the brace before: custom resources are whole, others lack kind and
   * version.
   */
  get item(): Buffer {
    return this.bytes.subarray(this.resource.itemOffset)
  }

  /** The JSON of `metadata`. */
  get metadata(): Buffer {
    const { bytes } = this
    return bytes.subarray(this.resource.head.length - 1, this.#endOfMetadata(bytes))
  }

  /** What follows metadata, from the comma on. */
  get rest(): Buffer {
    const { bytes } = this
    return bytes.subarray(this.#endOfMetadata(bytes))
  }

  #endOfMetadata(bytes: Buffer): number {
    return (this.#metadataEnd ||= endOfObject(bytes, this.resource.head.length - 1))
  }

  /** The same state under another revision: how a deleted object is shown. */
  at(revision: number): StoredObject {
    if (revision === this.revision) return this
    return new StoredObject(
      this.resource,
      this.key,
      revision,
      withRevision(this.resource, this.bytes, revision),
      this.#summary,
    )
  }
}

const quote = 0x22
const backslash = 0x5c
const open = 0x7b
const close = 0x7d

/** The offset behind the `}` that closes the object beginning at `start`. */
function endOfObject(bytes: Buffer, start: number): number {
  let depth = 0
  for (let i = start; i < bytes.length; i++) {
    const c = bytes[i]
    if (c === quote) {
      while (bytes[++i] !== quote) if (bytes[i] === backslash) i++
    } else if (c === open) depth++
    else if (c === close && --depth === 0) return i + 1
  }
  throw new Error('an object in the store is not JSON')
}

/**
 * The bytes for the store: kind and version first, then metadata without resourceVersion. The object is not changed.
 * With `like`, what follows metadata is known to be as it is there.
 */
export function encode(resource: ServedResource, object: KubeObject, like?: StoredObject): Buffer {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object
  const { resourceVersion: _resourceVersion, managedFields, ...meta } = metadata
  const named = writeJson(meta).slice(1, -1)
  const owned = managedFields?.length ? `${named && ','}"managedFields":${managedFieldsText(managedFields)}` : ''
  const start = `${resource.headText}${named}${owned}}`
  if (like) return Buffer.concat([Buffer.from(start), like.rest])
  const others = writeJson(rest).slice(1)
  return Buffer.from(`${start}${others.length > 1 ? ',' : ''}${others}`)
}

/**
 * Puts `"resourceVersion":"N"` into bytes from the store. Only the metadata of reviews, which are not stored, may be
 * empty.
 */
export function spliceRevision(resource: ServedResource, stored: Buffer, revision: number): Buffer {
  const isEmpty = stored[resource.head.length] === close
  return spliced(
    resource,
    isEmpty ? `"resourceVersion":"${revision}"` : `"resourceVersion":"${revision}",`,
    stored,
    resource.head.length,
  )
}

/** Bytes that may have a resourceVersion, with another. */
function withRevision(resource: ServedResource, bytes: Buffer, revision: number): Buffer {
  const { length } = resource.head
  if (bytes.toString('latin1', length, length + revisionStart.length) !== revisionStart)
    return spliceRevision(resource, bytes, revision)
  return spliced(resource, `${revisionStart}${revision}`, bytes, bytes.indexOf(quote, length + revisionStart.length))
}

const revisionStart = '"resourceVersion":"'

/** The beginning of the resource's objects, the text, which is ASCII, and the bytes from an offset on. */
function spliced({ head }: ServedResource, text: string, bytes: Buffer, from: number): Buffer {
  // Memory of its own: a piece of Node's pool would keep 64 KB alive for as long as the object is there.
  const made = Buffer.allocUnsafeSlow(head.length + text.length + bytes.length - from)
  bytes.copy(made, 0, 0, head.length)
  made.write(text, head.length, 'latin1')
  bytes.copy(made, head.length + text.length, from)
  return made
}

/** An object as it would be stored, without being: the answer of a dry run, or of a subresource that is computed. */
export function unstored(resource: ServedResource, object: KubeObject): StoredObject {
  const { resourceVersion } = object.metadata
  const revision = resourceVersion ? Number(resourceVersion) : 0
  const bytes = encode(resource, object)
  return new StoredObject(
    resource,
    resource.key(object.metadata.namespace ?? '', object.metadata.name ?? ''),
    revision,
    revision ? spliceRevision(resource, bytes, revision) : bytes,
    summarize(resource, object),
  )
}
