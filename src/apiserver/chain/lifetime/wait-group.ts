/** Counts requests under way, so that a server that stops can let them finish; watches and streams are told to end. */
import { StatusError } from '../../../machinery/status-error.ts'
import type { Filter } from '../filter.ts'
import { isServedToTheEnd } from './served-to-the-end.ts'

export class WaitGroup {
  #running = 0
  #stopping = false
  #idle: (() => void) | undefined
  readonly #onStop = new Set<() => void>()

  /** Requests under way. */
  get running(): number {
    return this.#running
  }

  get stopping(): boolean {
    return this.#stopping
  }

  /** Calls back once when the server begins to stop; the returned function takes that back. */
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

  /** No request is let in from now on; resolves when those under way are done, or after `graceMs`. */
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

export const waitGroupFilter = (group: WaitGroup): Filter => ({
  begin(request) {
    if (group.stopping && !isServedToTheEnd(request)) {
      throw new StatusError(503, 'ServiceUnavailable', 'apiserver is shutting down', { retryAfterSeconds: 1 })
    }
    group.enter()
  },
  answered(_request, response) {
    group.leave()
    return response
  },
  failed(_request, error) {
    group.leave()
    throw error
  },
})
