/** Counts requests in progress, so that a stopping server can let them finish; notifies watches and streams. */

export class WaitGroup {
  #running = 0
  #stopping = false
  #idle: (() => void) | undefined
  readonly #onStop = new Set<() => void>()

  /** The number of requests in progress. */
  get running(): number {
    return this.#running
  }

  get stopping(): boolean {
    return this.#stopping
  }

  /** Calls back once when the server begins to stop; the returned function cancels that. */
  onStop(callback: () => void): () => void {
    this.#onStop.add(callback)
    return () => this.#onStop.delete(callback)
  }

  enter(): void {
    this.#running++
  }

  leave(): void {
    if (--this.#running === 0) this.#idle?.()
  }

  /** Admits no more requests; resolves when those in progress are done, or after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true
    for (const callback of this.#onStop) callback()
    if (this.#running === 0) return
    let timer: NodeJS.Timeout | undefined
    await Promise.race([
      new Promise<void>((resolve) => (this.#idle = resolve)),
      new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs))),
    ])
    clearTimeout(timer)
  }
}
