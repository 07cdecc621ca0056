/** Writes events one after the other in the background. If the queue is full, new events are dropped. */
import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost, RequestCanceled } from '../connection/connection-lost.ts'
import { isNamespaceDeleted } from '../rest/api-errors.ts'

/** Writes one event. */
export type EventWrite = () => Promise<unknown>

/** Upstream's values. */
const maxQueued = 1000
const maxAttempts = 12
const pauseMs = 10_000

export class EventSender {
  readonly #log: (line: string) => void
  readonly #queue: { readonly write: EventWrite; readonly description: string }[] = []
  readonly #closing = new AbortController()
  #sending = false
  #dropped = 0

  constructor(log: (line: string) => void) {
    this.#log = log
  }

  /** `description` names the event in the log if it is dropped. */
  send(write: EventWrite, description: string): void {
    if (this.#closing.signal.aborted) return
    if (this.#queue.length >= maxQueued) {
      // Logged once per overflow.
      if (this.#dropped++ === 0) this.#log(`dropping events, ${maxQueued} are queued: ${description}`)
      return
    }
    this.#queue.push({ write, description })
    if (!this.#sending) void this.#send()
  }

  /** Drops queued events. */
  stop(): void {
    this.#closing.abort()
    this.#queue.length = 0
  }

  async #send(): Promise<void> {
    this.#sending = true
    for (let next = this.#queue.shift(); next; next = this.#queue.shift())
      await this.#writeWithRetries(next.write, next.description)
    this.#sending = false
    this.#dropped = 0
  }

  async #writeWithRetries(write: EventWrite, description: string): Promise<void> {
    const { signal } = this.#closing
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        await write()
        return
      } catch (error) {
        if (error instanceof RequestCanceled || signal.aborted) return
        // Events of a deleted namespace are not needed.
        if (isNamespaceDeleted(error)) return
        // An unreachable server is retried; a rejection is final.
        if (!(error instanceof ConnectionLost) || tries === maxAttempts) {
          this.#log(`cannot write ${description}: ${error instanceof Error ? error.message : String(error)}`)
          return
        }
        await delay(pauseMs * (1 + Math.random() / 4), undefined, { signal, ref: false }).catch(() => {})
      }
    }
  }
}
