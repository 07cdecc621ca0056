/**
 * The part of a request that filters of the chain fill in for all filters and endpoints after them. State that one
 * filter keeps for itself does not belong here: the filter keeps it in a WeakMap.
 */
import type { RequestInfo } from './request-info.ts'
import type { UserInfo } from './user-info.ts'

/** The base of requests of each protocol, so that all of them have the same fields. */
export class RequestContext {
  /** The parsed target; set by the first filters. */
  info!: RequestInfo
  /** The user, once it is authenticated; the impersonated one, if any. */
  user: UserInfo | undefined = undefined
  /** The time at which the client stops waiting, in ms of `performance.now()`, if the request states it. */
  deadline: number | undefined = undefined
  /** Sent as `Warning: 299` headers with the response. */
  readonly warnings: string[] = []
  /** The ID of this request in audit events and logs. */
  auditId = ''
  /** The audit event of the request, if it is audited. */
  audit: RequestAudit | undefined = undefined
}

/** Receives the parts of a request for its audit event. */
export interface RequestAudit {
  /** Adds an annotation; one of the level `Request` is added only to events that include the request body. */
  annotate(key: string, value: string, level?: 'Request'): void
  /** Records a decoded object as the body; it also provides the name. */
  recordObject(object: object): void
  /** Records another body: a patch, or options. */
  recordBody(value: unknown): void
  /** Records the permission by which the user is impersonated: `impersonate:user-info`. */
  recordImpersonation(constraint: string): void
}
