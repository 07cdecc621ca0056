/**
 * Logs failures of controllers. Expected ones are not logged: conflicts, objects that were deleted during a reconcile,
 * exhausted quotas (events report those). Others are logged once a minute per key.
 */
import { reasonOf } from '../../lib/explained-error.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { ConnectionLost, RequestCanceled } from '../connection/connection-lost.ts'
import { LruMap } from '../events/lru-map.ts'
import { isAuthorizationDenied, isObjectNotFound } from '../rest/api-errors.ts'

const intervalMs = 60_000
const maxKeys = 1000
/** A deleted object may be reconciled a few times before the watch reports the deletion. */
const maxNotFound = 5

export class FailureLog {
  readonly #log: (line: string) => void
  readonly #now: () => number
  /** When each key was last logged. */
  readonly #loggedAt = new LruMap<number>(maxKeys)

  /** `now` returns ms. */
  constructor(log: (line: string) => void, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  /** Records a failure of a key after `failures` earlier ones in a row. `title` names the key in the log. */
  record(key: string, error: unknown, failures: number, title = key): void {
    if (isExpected(error, failures)) return
    // An unreachable server is logged once for all keys.
    const about = error instanceof ConnectionLost ? '' : key
    const now = this.#now()
    const loggedAt = this.#loggedAt.get(about)
    if (loggedAt !== undefined && now - loggedAt < intervalMs) return
    this.#loggedAt.set(about, now)
    this.#log(`${title}: ${reasonOf(error)}`)
  }
}

function isExpected(error: unknown, failures: number): boolean {
  if (error instanceof RequestCanceled) return true
  if (!(error instanceof StatusError)) return false
  switch (error.code) {
    // A conflict: the other write queues the key again.
    case 409:
      return true
    // Denied by a quota, an admission plugin or a webhook. Missing permissions are a mistake and are logged.
    case 403:
      return !isAuthorizationDenied(error)
    case 404:
      return isObjectNotFound(error) && failures < maxNotFound
    default:
      return false
  }
}
