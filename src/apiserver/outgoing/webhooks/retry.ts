/** Retries calls of a webhook after temporary errors, as Go's webhook clients do. */
import { setTimeout as delay } from 'node:timers/promises'
import { WebhookAnswerError } from './client/answer-error.ts'

export interface RetryOptions {
  /** Aborts the back-off. */
  readonly signal: AbortSignal
  /** The first back-off, in ms. Default: 500. */
  readonly backoffMs?: number
}

const attempts = 5
const backoffFactor = 1.5
const backoffJitter = 0.2
/** The time in ms after which no more calls are started: the caller has given up by then. */
const maxTotalMs = 60_000

/** Calls until it succeeds; rejects with the error of the last attempt. */
export async function withRetries<T>(call: () => Promise<T>, { signal, backoffMs = 500 }: RetryOptions): Promise<T> {
  const started = performance.now()
  let pauseMs = backoffMs
  let waitMs: number
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      waitMs = Math.max(pauseMs * (1 + Math.random() * backoffJitter), requestedPauseMs(error))
      const isOver = attempt === attempts || performance.now() - started + waitMs > maxTotalMs || signal.aborted
      if (isOver || !isTemporary(error)) throw error
    }
    await delay(waitMs, undefined, { signal, ref: false })
    pauseMs *= backoffFactor
  }
}

/** The Retry-After of the webhook, in ms. */
const requestedPauseMs = (error: unknown): number =>
  error instanceof WebhookAnswerError ? (error.retryAfterMs ?? 0) : 0

/** True for errors that Go's client considers temporary. */
function isTemporary(error: unknown): boolean {
  if (error instanceof WebhookAnswerError) {
    const { status, retryAfterMs } = error
    return retryAfterMs !== undefined || status === 429 || (status >= 500 && status !== 503)
  }
  return error instanceof Error && /: (EOF|read tcp .*: connection reset by peer)$/.test(error.message)
}
