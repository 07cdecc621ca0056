/** Asks a webhook again when it is only out of breath, as Go's clients of webhooks do. */
import { setTimeout as delay } from 'node:timers/promises'
import { WebhookAnswerError } from './webhook-client.ts'

export interface Patience {
  /** Ends the waiting. */
  readonly signal: AbortSignal
  /** The first pause before a call is repeated, ms; 500 unless said. */
  readonly backoffMs?: number
}

const attempts = 5
const backoffFactor = 1.5
const backoffJitter = 0.2
/** No more calls are begun after this: who asked has given up. Milliseconds. */
const patienceMs = 60_000

/** Rejects as the last call did. */
export async function patiently<T>(call: () => Promise<T>, { signal, backoffMs = 500 }: Patience): Promise<T> {
  const started = performance.now()
  let pauseMs = backoffMs
  let waitMs: number
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      waitMs = Math.max(pauseMs * (1 + Math.random() * backoffJitter), askedPauseMs(error))
      const isOver = attempt === attempts || performance.now() - started + waitMs > patienceMs || signal.aborted
      if (isOver || !isPassing(error)) throw error
    }
    await delay(waitMs, undefined, { signal, ref: false })
    pauseMs *= backoffFactor
  }
}

/** How long the webhook itself has asked to be left alone. */
const askedPauseMs = (error: unknown): number => (error instanceof WebhookAnswerError ? (error.retryAfterMs ?? 0) : 0)

/** Whether the webhook may well answer when it is asked again: what Go's client takes for a passing fault. */
function isPassing(error: unknown): boolean {
  if (error instanceof WebhookAnswerError) {
    const { status, retryAfterMs } = error
    return retryAfterMs !== undefined || status === 429 || (status >= 500 && status !== 503)
  }
  return error instanceof Error && /: (EOF|read tcp .*: connection reset by peer)$/.test(error.message)
}
