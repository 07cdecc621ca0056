/**
 * Which requests are sent again, and when: those that the server says to send again, and those that do no harm if it
 * has seen them before.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost, RequestCanceled } from '../connection-lost.ts'

/** What the head of an answer says about sending the request again. */
export interface Answered {
  readonly status: number
  /** The header `Retry-After` (RFC 9110, 10.2.3); undefined where there is none. */
  readonly retryAfter: string | undefined
}

/** How often a request is sent again that the server puts off: client-go's limit. */
const longestWait = 10
/** How often one is sent again whose connection was lost, or whose server stands behind one that has lost it. */
const mostLosses = 3
const shortestPauseMs = 100
/** No server is believed that says to wait longer than this, in ms. */
const longestPauseMs = 60_000
const badGateways = new Set([502, 503, 504])

/**
 * In how many ms a request is sent again that had this outcome, `sent` times before; undefined if it is not.
 * `repeatable`: twice does no more than once.
 */
export function pauseBefore(
  outcome: Answered | Error,
  sent: number,
  repeatable: boolean,
  random: () => number = Math.random,
): number | undefined {
  const backOffMs = shortestPauseMs * 2 ** sent * (1 + random())
  if (outcome instanceof Error) {
    const mayRepeat = outcome instanceof ConnectionLost && (repeatable || !outcome.reached)
    return mayRepeat && sent < mostLosses ? backOffMs : undefined
  }
  const { status, retryAfter } = outcome
  // Who says when to come again has not done what was asked.
  if (retryAfter !== undefined && (status === 429 || status >= 500))
    return sent < longestWait ? waitOf(retryAfter) : undefined
  return repeatable && badGateways.has(status) && sent < mostLosses ? backOffMs : undefined
}

/** Seconds, or a date. */
function waitOf(retryAfter: string): number {
  const seconds = Number(retryAfter)
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000
  return Math.min(Math.max(Number.isNaN(ms) ? shortestPauseMs : ms, 0), longestPauseMs)
}

/** What an answer may owe to an earlier sending of the same request. */
export interface Repeated {
  /** Why the server may have done before what this answers; undefined if it surely had not. */
  readonly maybeDone?: Error
}

export interface RetryOptions {
  readonly repeatable: boolean
  readonly signal?: AbortSignal
}

/** Why the server may have done what it was asked, though there is no answer that counts. */
function doubtOf(outcome: Answered | Error): Error | undefined {
  if (outcome instanceof Error) return outcome instanceof ConnectionLost && !outcome.reached ? undefined : outcome
  return outcome.retryAfter === undefined ? new Error(`the server answered ${outcome.status} before`) : undefined
}

/** Carries `attempt` out until it ends in something that is final. Rejects as the last attempt did. */
export async function withRetries<T extends Answered>(
  attempt: () => Promise<T>,
  { repeatable, signal }: RetryOptions,
): Promise<T & Repeated> {
  let maybeDone: Error | undefined
  for (let sent = 0; ; sent++) {
    const outcome = await attempt().catch((error: Error) => error)
    const pauseMs = signal?.aborted ? undefined : pauseBefore(outcome, sent, repeatable)
    if (pauseMs === undefined) {
      if (outcome instanceof Error) throw outcome
      return maybeDone ? { ...outcome, maybeDone } : outcome
    }
    maybeDone ??= doubtOf(outcome)
    await delay(pauseMs, undefined, { signal }).catch(() => {
      throw new RequestCanceled('the request was given up while it waited to be sent again')
    })
  }
}
