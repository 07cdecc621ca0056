/**
 * The store's health: what it cannot write is 503 with the cause, stands in the log once, and fails the check `etcd`
 * while it lasts.
 */
import { StatusError } from '../../machinery/status-error.ts'
import type { Store, StoreFailedError } from '../../storage/store.ts'
import type { HealthCheck } from './health.ts'

export interface StoreHealth {
  readonly check: HealthCheck
  /** The answer to a request whose write has failed. */
  refusal(error: StoreFailedError): StatusError
}

const lookMs = 500

export function storeHealth(store: Store, log: (line: string) => void): StoreHealth {
  let told: string | undefined
  /** Says once what is wrong, and once that it is over. */
  const follow = (): void => {
    const { problem } = store
    if (problem === told) return
    log(problem ?? 'the store can write again')
    told = problem
  }
  const look = (): void => {
    follow()
    if (told !== undefined) setTimeout(look, lookMs).unref()
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
      if (told === undefined) look()
      // Without Retry-After: kubectl would try for a minute before it shows the cause.
      return new StatusError(503, 'ServiceUnavailable', error.message)
    },
  }
}
