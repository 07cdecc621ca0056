/**
 * The store's health: a failed write is 503 with the cause, is logged once, and fails the check `etcd` while it lasts.
 */
import { timerMs } from '../../lib/flow/timer-ms.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Store, StoreFailedError } from '../../storage/store.ts'
import type { HealthCheck } from './health.ts'

export interface StoreHealth {
  readonly check: HealthCheck
  readonly readiness: HealthCheck
  /** The response to a request whose write has failed. */
  refusal(error: StoreFailedError): StatusError
}

/** Times in ms for the answer of a store to its checks (`--etcd-healthcheck-timeout`, `--etcd-readycheck-timeout`). */
export interface StoreHealthOptions {
  /** Default: 2,000. */
  readonly healthMs?: number | undefined
  /** Default: 2,000. */
  readonly readyMs?: number | undefined
}

/** The names of the checks of the common store. */
const commonNames = { check: 'etcd', readiness: 'etcd-readiness' }

/** The names of the checks of another store, as upstream numbers them. */
export const otherNames = (index: number): typeof commonNames => ({
  check: `etcd-override-${index}`,
  readiness: `etcd-override-readiness-${index}`,
})

const pollMs = 500
const defaultTimeoutMs = 2_000

export function storeHealth(
  store: Store,
  log: (line: string) => void,
  { healthMs = defaultTimeoutMs, readyMs = defaultTimeoutMs }: StoreHealthOptions = {},
  names = commonNames,
): StoreHealth {
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
  const check = (timeoutMs: number): ReturnType<HealthCheck['check']> => {
    if (store.problem === undefined) return answer(store, timeoutMs)
    if (logged === undefined) poll()
    return store.problem
  }
  return {
    check: { name: names.check, check: () => check(healthMs) },
    readiness: { name: names.readiness, check: () => check(readyMs) },
    refusal(error) {
      if (logged === undefined) poll()
      // No Retry-After: kubectl would retry for a minute before it shows the cause.
      return new StatusError(503, 'ServiceUnavailable', error.message)
    },
  }
}

/** Reads a key, as upstream; resolves with a message if that fails or takes longer than `timeoutMs`. */
async function answer(store: Store, timeoutMs: number): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('error getting data from etcd: context deadline exceeded'), timerMs(timeoutMs))
  })
  const read = store.list({ start: '/registry/health', end: '/registry/health0', limit: 1 }).then(
    () => undefined,
    (error: Error) => error.message,
  )
  try {
    return await Promise.race([read, late])
  } finally {
    clearTimeout(timer)
  }
}
