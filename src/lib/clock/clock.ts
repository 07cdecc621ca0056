/** The time that a component lives by. A cluster's clock can be paused, stepped and sped up; the system's cannot. */
import { timerMs } from '../flow/timer-ms.ts'

/** A source of time and of alarms. */
export interface Clock {
  /** The current time, in ms since 1970. */
  now(): number
  /** The ms of this clock that have passed since any time. A correction of the machine's time does not move it. */
  elapsed(): number
  /**
   * Calls `ring` once after `ms` of this clock, and never synchronously. An alarm does not keep the process running.
   *
   * @example
   * const alarm = clock.after(5_000, () => flush())
   * alarm.cancel()
   */
  after(ms: number, ring: () => void): Alarm
}

/** A call that is due later. */
export interface Alarm {
  /** Does nothing after the call. */
  cancel(): void
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, ring) {
    const timer = setTimeout(ring, timerMs(ms)).unref()
    return { cancel: () => clearTimeout(timer) }
  },
}

/**
 * Resolves after `ms` of the clock, or when the signal is aborted.
 * @example while (!signal.aborted) { await check(); await sleep(clock, 5_000, signal) }
 */
export async function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const alarm = clock.after(ms, resolve)
  const abort = (): void => {
    alarm.cancel()
    resolve()
  }
  signal?.addEventListener('abort', abort, { once: true })
  await promise
  signal?.removeEventListener('abort', abort)
}

/**
 * Calls `ring` every `ms` of the clock until it is cancelled. A call that is late delays those after it.
 * @example const alarm = every(clock, 10_000, () => void renewLease())
 */
export function every(clock: Clock, ms: number, ring: () => void): Alarm {
  let alarm = clock.after(ms, next)
  function next(): void {
    alarm = clock.after(ms, next)
    ring()
  }
  return { cancel: () => alarm.cancel() }
}
