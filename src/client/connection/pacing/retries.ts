/** Retries requests that the server asks to repeat (`Retry-After`), and requests that are safe to repeat. */
import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost, RequestCanceled } from '../connection-lost.ts'

/** The parts of a response that decide about a retry. */
export interface ResponseHead {
  readonly status: number
  /** The header `Retry-After` (RFC 9110, 10.2.3); undefined if it is absent. */
  readonly retryAfter: string | undefined
}

/** Retries after a `Retry-After`: client-go's limit. */
const maxRetryAfters = 10
/** Retries after a lost connection, or after a gateway error. */
const maxConnectionLosses = 3
const minDelayMs = 100
/** The longest `Retry-After` that is respected, in ms. */
const maxDelayMs = 60_000
const badGateways = new Set([502, 503, 504])

/**
 * Returns the delay in ms before a request with this outcome is retried, or undefined if it is not. `attempts` were
 * made before; a `repeatable` request is idempotent.
 */
export function retryDelayMs(
  outcome: ResponseHead | Error,
  attempts: number,
  repeatable: boolean,
  random: () => number = Math.random,
): number | undefined {
  const backOffMs = minDelayMs * 2 ** attempts * (1 + random())
  if (outcome instanceof Error) {
    const isRetriable = outcome instanceof ConnectionLost && (repeatable || !outcome.reached)
    return isRetriable && attempts < maxConnectionLosses ? backOffMs : undefined
  }
  const { status, retryAfter } = outcome
  // A server that sends Retry-After has not applied the request.
  if (retryAfter !== undefined && (status === 429 || status >= 500))
    return attempts < maxRetryAfters ? retryAfterMs(retryAfter) : undefined
  return repeatable && badGateways.has(status) && attempts < maxConnectionLosses ? backOffMs : undefined
}

/** Parses seconds or a date. */
function retryAfterMs(retryAfter: string): number {
  const seconds = Number(retryAfter)
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000
  return Math.min(Math.max(Number.isNaN(ms) ? minDelayMs : ms, 0), maxDelayMs)
}

/** The result of retries. */
export interface RetryOutcome {
  /** The error of an earlier attempt that the server may have applied; undefined if there was none. */
  readonly ambiguousAttempt?: Error
}

export interface RetryOptions {
  readonly repeatable: boolean
  readonly signal?: AbortSignal
}

/** Returns an Error if the server may have applied the request despite this outcome. */
function ambiguityOf(outcome: ResponseHead | Error): Error | undefined {
  if (outcome instanceof Error) return outcome instanceof ConnectionLost && !outcome.reached ? undefined : outcome
  return outcome.retryAfter === undefined
    ? new Error(`the server answered ${outcome.status} to an earlier attempt`)
    : undefined
}

/** Calls `attempt` until its outcome is final. Rejects as the last attempt did. */
export async function withRetries<T extends ResponseHead>(
  attempt: () => Promise<T>,
  { repeatable, signal }: RetryOptions,
): Promise<T & RetryOutcome> {
  let ambiguousAttempt: Error | undefined
  for (let attempts = 0; ; attempts++) {
    const outcome = await attempt().catch((error: Error) => error)
    const delayMs = signal?.aborted ? undefined : retryDelayMs(outcome, attempts, repeatable)
    if (delayMs === undefined) {
      if (outcome instanceof Error) throw outcome
      return ambiguousAttempt ? { ...outcome, ambiguousAttempt } : outcome
    }
    ambiguousAttempt ??= ambiguityOf(outcome)
    await delay(delayMs, undefined, { signal }).catch(() => {
      throw new RequestCanceled('the request was canceled while it waited for a retry')
    })
  }
}
