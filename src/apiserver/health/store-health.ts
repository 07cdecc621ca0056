/**
 * The store's health: a failed write is 503 with the cause, is logged once, and fails the check `etcd` while it lasts.
 */
import { StatusError } from '../../machinery/status-error.ts'
import type { Store, StoreFailedError } from '../../storage/store.ts'
import type { HealthCheck } from './health.ts'

export interface StoreHealth {
  readonly check: HealthCheck
  /** The response to a request whose write has failed. */
  refusal(error: StoreFailedError): StatusError
}

const pollMs = 500

export function storeHealth(store: Store, log: (line: string) => void): StoreHealth {
  let logged: string | undefined
  /** Logs a problem once, and once that it has ended. */
  const follow = (): void => {
    const { problem } = store
    if (problem === logged) return
    log(problem ?? 'the store can write again')
    logged = problem
  }
  const poll = (): void => {
    follow()
    if (logged !== undefined) setTimeout(poll, pollMs).unref()
  }
  return {
    check: {
      name: 'etcd',
      check: () =>
        store.problem ??
        store.list({ start: '/registry/health', end: '/registry/health0', limit: 1 }).then(
          () => undefined,
          (error: Error) => error.message,
        ),
    },
    refusal(error) {
      if (logged === undefined) poll()
      // No Retry-After: kubectl would retry for a minute before it shows the cause.
      return new StatusError(503, 'ServiceUnavailable', error.message)
    },
  }
}
