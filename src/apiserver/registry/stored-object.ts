/**
 * One revision of one object as the server stores it in memory: the JSON bytes that clients get, encoded once.
 * Selectors and tables parse the fields they need on first access, and only those are cached.
 *
 * In the store the bytes lack `metadata.resourceVersion`, which is not known before the commit; it is inserted as the
 * first member of metadata when the object is read.
 */

import { isDeepStrictEqual } from 'node:util'
import { writeJson } from '../../lib/exact-json.ts'
import { managedFieldsText, parseObject } from '../../machinery/managed-fields/fields-cache.ts'
import type { KubeObject, ObjectMeta } from '../../machinery/object.ts'
import { difference, restored } from './packing/difference.ts'
import type { RowTemplate } from './printing/row.ts'
import type { ServedResource } from './served-resource.ts'

const nothing: Readonly<Record<string, string>> = Object.freeze({})

/** The labels and fields that selectors match. */
export interface Summary {
  readonly labels: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string>>
}

/** The summary of an object of which only the metadata has changed. */
export const summaryWith = ({ labels = nothing }: ObjectMeta, { fields }: Summary): Summary => ({ labels, fields })

/** The same summary, sharing the other's labels and strings where they are equal, to save memory. */
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
  /** The number of bytes. */
  readonly size: number
  /** The bytes, or their difference from the pattern's. */
  #data: Buffer | string
  #pattern: StoredObject | undefined
  #summary: Summary | undefined
  #metadataEnd = 0
  /** The object's table row, once it was printed. */
  row: RowTemplate | undefined
  /** True if the store holds it in an older form or version: writing it as it is shown is a change. */
  outdated = false
  /** True if it was written here, and its spec has passed the current validation. */
  validSpec = false
  /** The stored object that this one was converted from by a webhook. */
  base: StoredObject | undefined

  constructor(resource: ServedResource, key: string, revision: number, bytes: Buffer, summary?: Summary) {
    this.resource = resource
    this.key = key
    this.revision = revision
    this.size = bytes.length
    this.#data = bytes
    this.#summary = summary
  }

  /** Restored on each access if the object is packed: read it once. */
  get bytes(): Buffer {
    return typeof this.#data === 'string' ? restored(this.#pattern!.bytes, this.#data) : this.#data
  }

  get isPacked(): boolean {
    return this.#pattern !== undefined
  }

  /**
   * Stores the difference from the pattern, which is not packed, instead of the bytes. Does nothing and returns false
   * if that would be more than `most` bytes.
   */
  pack(pattern: StoredObject, most: number): boolean {
    const text = difference(pattern.bytes, this.bytes, most)
    if (text === undefined) return false
    this.#data = text
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

  /** A new copy that the caller may change, except for the field sets of managedFields in it. */
  parse<T extends KubeObject = KubeObject>(): T {
    return parseObject(this.bytes.toString()) as T
  }

  /** The metadata alone, under the same rules as `parse`. */
  parseMetadata(): ObjectMeta {
    return parseObject(`{"metadata":${this.metadata}}`).metadata
  }

  get summary(): Summary {
    return (this.#summary ??= summarize(this.resource, this.parse()))
  }

  /**
   * The bytes of the list item, without the brace before: custom resources are complete, others lack kind and version.
   */
  get item(): Buffer {
    return this.bytes.subarray(this.resource.itemOffset)
  }

  /** The JSON of `metadata`. */
  get metadata(): Buffer {
    const { bytes } = this
    return bytes.subarray(this.resource.head.length - 1, this.#endOfMetadata(bytes))
  }

  /** The bytes after metadata, from the comma on. */
  get rest(): Buffer {
    const { bytes } = this
    return bytes.subarray(this.#endOfMetadata(bytes))
  }

  #endOfMetadata(bytes: Buffer): number {
    return (this.#metadataEnd ||= endOfObject(bytes, this.resource.head.length - 1))
  }

  /** The same state with another revision: how a deleted object is shown. */
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

/** The offset after the `}` that closes the object beginning at `start`. */
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
 * The bytes for the store: kind and version first, then metadata without resourceVersion. The object is not changed. If
 * `like` is given, the bytes after metadata are copied from it.
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
 * Inserts `"resourceVersion":"N"` into bytes from the store. Only reviews, which are not stored, may have empty
 * metadata.
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

/** Replaces the resourceVersion of bytes, or inserts it. */
function withRevision(resource: ServedResource, bytes: Buffer, revision: number): Buffer {
  const { length } = resource.head
  if (bytes.toString('latin1', length, length + revisionStart.length) !== revisionStart)
    return spliceRevision(resource, bytes, revision)
  return spliced(resource, `${revisionStart}${revision}`, bytes, bytes.indexOf(quote, length + revisionStart.length))
}

const revisionStart = '"resourceVersion":"'

/** The head of the resource's objects, the text, which is ASCII, and the bytes from an offset on. */
function spliced({ head }: ServedResource, text: string, bytes: Buffer, from: number): Buffer {
  // Allocate outside of Node's pool: a piece of the pool would retain 64 KB for as long as the object exists.
  const result = Buffer.allocUnsafeSlow(head.length + text.length + bytes.length - from)
  bytes.copy(result, 0, 0, head.length)
  result.write(text, head.length, 'latin1')
  bytes.copy(result, head.length + text.length, from)
  return result
}

/** An object that is not stored: the response of a dry run, or of a subresource that is computed. */
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
