/**
 * Writes events one after the other, in the background: whoever tells them never waits, and when too many wait, the
 * newest are lost.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost, RequestCanceled } from '../connection/connection-lost.ts'
import { isNamespaceGone } from '../rest/refusals.ts'

/** Writes one event. */
export type EventWrite = () => Promise<unknown>

/** Upstream's numbers. */
const mostWaiting = 1000
const mostTries = 12
const pauseMs = 10_000

export class EventSender {
  readonly #log: (line: string) => void
  readonly #waiting: { readonly write: EventWrite; readonly what: string }[] = []
  readonly #closing = new AbortController()
  #sending = false
  #lost = 0

  constructor(log: (line: string) => void) {
    this.#log = log
  }

  /** `what` names the event where it has to be said that it is lost. */
  send(write: EventWrite, what: string): void {
    if (this.#closing.signal.aborted) return
    if (this.#waiting.length >= mostWaiting) {
      // One line, not a thousand.
      if (this.#lost++ === 0) this.#log(`events are lost, ${mostWaiting} wait to be written: ${what}`)
      return
    }
    this.#waiting.push({ write, what })
    if (!this.#sending) void this.#send()
  }

  /** Lets go of what waits. */
  stop(): void {
    this.#closing.abort()
    this.#waiting.length = 0
  }

  async #send(): Promise<void> {
    this.#sending = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift())
      await this.#written(next.write, next.what)
    this.#sending = false
    this.#lost = 0
  }

  async #written(write: EventWrite, what: string): Promise<void> {
    const { signal } = this.#closing
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        await write()
        return
      } catch (error) {
        if (error instanceof RequestCanceled || signal.aborted) return
        // Where a namespace goes away, its events go first.
        if (isNamespaceGone(error)) return
        // Who cannot be reached is asked again later; who refuses will refuse again.
        if (!(error instanceof ConnectionLost) || tries === mostTries) {
          this.#log(`${what} is lost: ${error instanceof Error ? error.message : String(error)}`)
          return
        }
        await delay(pauseMs * (1 + Math.random() / 4), undefined, { signal, ref: false }).catch(() => {})
      }
    }
  }
}
