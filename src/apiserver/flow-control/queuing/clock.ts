/** The time that flow control goes by; tests bring their own. */
export interface Clock {
  /** Milliseconds that never go back. */
  now(): number
  /** Calls back once after `ms`; the returned function takes that back. Keeps no process alive. */
  later(ms: number, callback: () => void): () => void
}

export const realClock: Clock = {
  now: () => performance.now(),
  later(ms, callback) {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}
