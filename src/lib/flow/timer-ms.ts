/** The range of Node's timers: out of it they warn, and fire at once. */

const longestTimerMs = 2 ** 31 - 1

/**
 * The time for a timer that is to fire in `ms`: 0 if that is over already, 24 days if it is longer than that.
 * @example setTimeout(expire, timerMs(deadline - performance.now()))
 */
export const timerMs = (ms: number): number => Math.min(Math.max(0, ms), longestTimerMs)
