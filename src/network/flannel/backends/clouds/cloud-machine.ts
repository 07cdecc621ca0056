/** The HTTP, time and chance that backends of clouds use. Tests pass their own. */
import { setTimeout as delay } from 'node:timers/promises'

export interface CloudMachine {
  readonly fetch: typeof fetch
  /** In ms since 1970. */
  readonly now: () => number
  /** Rejects if the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  /** From 0 to 1. */
  readonly random: () => number
}

/** The machine of this process. */
export const thisMachine: CloudMachine = {
  fetch: (input, init) => fetch(input, init),
  now: () => Date.now(),
  pause: (ms, signal) => delay(ms, undefined, { signal }),
  random: Math.random,
}
