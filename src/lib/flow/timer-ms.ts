/** The range of Node's timers; outside of it, they warn and fire immediately. */

const maxTimerMs = 2 ** 31 - 1

/**
 * Returns the time for a timer: `ms`, but at least 0 and at most 24 days.
 * @example setTimeout(expire, timerMs(deadline - performance.now()))
 */
export const timerMs = (ms: number): number => Math.min(Math.max(0, ms), maxTimerMs)
