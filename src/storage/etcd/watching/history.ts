/** Portions of the history of etcd. A reader stays open for a moment, because the next portion is often wanted soon. */

import { defaultPortion } from '../../history.ts'
import type { Changes, PortionSize } from '../../store.ts'
import { StoreFailedError } from '../../store.ts'
import type { Channel } from '../client/channel.ts'
import { PastEvents } from './past-events.ts'

const idleMs = 2_000
/** Time in ms in which etcd must send a portion. */
const timeoutMs = 10_000

interface IdleReader {
  readonly reader: PastEvents
  readonly timer: NodeJS.Timeout
}

export class History {
  readonly #channel: Channel
  /** By position. */
  readonly #idle = new Map<number, IdleReader>()
  readonly #open = new Set<PastEvents>()

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Returns a portion of the changes after a revision. Complete if `through` is at least `until`. */
  async changes(
    matches: (key: string) => boolean,
    after: number,
    until: number,
    size: PortionSize = defaultPortion,
  ): Promise<Changes> {
    const reader = this.#reader(after)
    const timer = setTimeout(
      () => reader.close(new StoreFailedError(`etcd did not send its history within ${timeoutMs / 1000} s`)),
      timeoutMs,
    )
    try {
      const changes = await reader.read({ matches, until, ...size })
      this.#retain(reader)
      return changes
    } catch (error) {
      this.#open.delete(reader)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Rejects with CompactedError, if the history after a revision has been compacted. */
  async compactionAfter(revision: number): Promise<void> {
    await this.changes(() => false, revision, revision + 1, { events: 1, bytes: 1 })
  }

  /** Ends all readers. */
  close(error: Error): void {
    for (const reader of this.#open) reader.close(error)
    for (const { timer } of this.#idle.values()) clearTimeout(timer)
  }

  #reader(after: number): PastEvents {
    const idle = this.#idle.get(after)
    if (idle) {
      this.#idle.delete(after)
      clearTimeout(idle.timer)
      return idle.reader
    }
    const reader = new PastEvents({ channel: this.#channel, after, wantsPrevious: true })
    this.#open.add(reader)
    return reader
  }

  #retain(reader: PastEvents): void {
    const { position } = reader
    const close = () => {
      if (this.#idle.get(position)?.reader === reader) this.#idle.delete(position)
      this.#open.delete(reader)
      reader.close(new Error('the history is not read any more'))
    }
    if (this.#idle.has(position)) close()
    else this.#idle.set(position, { reader, timer: setTimeout(close, idleMs).unref() })
  }
}
