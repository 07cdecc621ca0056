/** Pauses between two checks of the position of a watch. */

const longestMs = 50

/**
 * The pauses of one wait: a turn of the event loop, then 1 ms, 2 ms and so on, at most 50 ms. Changes of a store in
 * this process arrive within a turn, those of another process mostly within milliseconds.
 */
export class PositionPoll {
  #nextMs = 0

  pause(): Promise<void> {
    const ms = this.#nextMs
    this.#nextMs = Math.min(Math.max(1, 2 * ms), longestMs)
    return new Promise((resolve) => {
      if (ms === 0) setImmediate(resolve)
      else setTimeout(resolve, ms)
    })
  }
}
