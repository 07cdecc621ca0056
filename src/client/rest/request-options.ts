/** The options and the results of requests of a RestClient. */
import type { Credentials, Impersonation } from '../connection/credentials/credentials.ts'
import type { TokenBucket } from '../connection/pacing/token-bucket.ts'

/** Selects the objects of a list, a watch or an informer. */
export interface ListOptions {
  readonly namespace?: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
  /** Reads only the metadata of the objects (PartialObjectMetadata). */
  readonly metadataOnly?: boolean
}

/** The options of a list that is read page by page. */
export interface PageOptions extends ListOptions {
  /** Objects on a page. Default: 500. */
  readonly limit?: number
}

/** The objects of a list, and the revision at which they were read. */
export interface ObjectList<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
}

/** A change of an object. A bookmark has only a resource version. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
}

/** The options of a watch, which begins after a resource version. */
export interface WatchOptions extends ListOptions {
  readonly resourceVersion: string
  readonly signal: AbortSignal
  /** Starts with an event for each existing object, and a bookmark that ends them (KEP-3157). */
  readonly sendInitialEvents?: boolean
  /** The server ends the watch after this time. */
  readonly timeoutSeconds?: number
  /** The `Accept` header. Default: the full objects as JSON. */
  readonly accept?: string
}

/** The options of a deletion. A `uid` or `resourceVersion` that does not match is a conflict (409). */
export interface DeleteOptions {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
}

/** The options of a request that writes an object. */
export interface WriteOptions {
  /** The manager in `managedFields`. Default: the first part of the user agent. */
  readonly fieldManager?: string
  /** Validates the request and returns its result, but stores nothing. */
  readonly dryRun?: boolean
}

/** The options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  /** Takes over fields of other managers. Default: true. If false, such fields are a conflict (409). */
  readonly force?: boolean
  /** For example `status`. */
  readonly subresource?: string
}

/** The user of a client, if it is not the user of the connection. */
export interface Identity {
  readonly token?: string
  /** For a token that changes, in place of `token`. */
  readonly credentials?: Credentials
  /** Limits the requests of this client, in place of the connection's limit. */
  readonly rateLimiter?: TokenBucket
  readonly impersonate?: Impersonation
}

/** JSON patch (RFC 6902), JSON merge patch (RFC 7386), or strategic merge patch, which merges lists by key. */
export type PatchType = 'json' | 'merge' | 'strategic'
