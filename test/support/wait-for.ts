/** Waiting in tests: for a condition, with a deadline, never for a fixed time. */
import { setTimeout as delay } from 'node:timers/promises'

export interface WaitOptions {
  /** Maximum time until the condition is true, in ms. Default: 60,000. */
  readonly deadlineMs?: number
  /** The time between two checks, in ms. Default: 20. */
  readonly everyMs?: number
}

/**
 * Resolves with the first value of `probe` that is neither undefined nor false. Rejects after the deadline with `what`
 * in the message; the cause is the last error of `probe`.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { deadlineMs = 60_000, everyMs = 20 }: WaitOptions = {},
): Promise<T> {
  const deadline = performance.now() + deadlineMs
  let cause: unknown
  for (;;) {
    try {
      const value = await probe()
      if (value !== undefined && value !== false) return value
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() > deadline) throw new Error(`${what}: not within ${deadlineMs} ms`, { cause })
    await delay(everyMs)
  }
}
