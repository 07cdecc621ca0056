/** Waiting in tests: for a condition, with a deadline, never for a fixed time. */
import { setTimeout as delay } from 'node:timers/promises'

export interface WaitOptions {
  /** How long the condition may take, in ms; 60,000 by default. */
  readonly deadlineMs?: number
  /** The time between two checks, in ms. Default: 20. */
  readonly everyMs?: number
}

/**
 * Resolves with the first value of `probe` that is neither undefined nor false. Rejects, naming `what`, when the
 * deadline has passed; what `probe` threw last is the cause.
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
