/** The clock of flow control; tests use their own. */
export interface Clock {
  /** Monotonic time in ms. */
  now(): number
  /** Calls back once after `ms`; the returned function cancels that. Does not keep the process alive. */
  later(ms: number, callback: () => void): () => void
}

export const realClock: Clock = {
  now: () => performance.now(),
  later(ms, callback) {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}
