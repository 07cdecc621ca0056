/**
 * Lines of one turn of the event loop are written together, before the network has sent the answers that they are about. They become
 * bytes at once: texts that have to be kept for a while cost the garbage collector more than they did to make.
 */
import type { StagedEvent } from '../backend.ts'
import type { AuditEvent } from '../event/audit-event.ts'
import type { EventText } from '../event/event-text.ts'

/** What events begin with in the format `json`. */
export const eventStart = '{"kind":"Event","apiVersion":"audit.k8s.io/v1",'

/** More is not gathered, unless it is one line. */
const gatheredBytes = 256 * 1024
const mostBytesOfCharacter = 3

export class TurnLines implements EventText {
  readonly #write: (lines: Uint8Array, events: number) => boolean
  readonly #usual = Buffer.allocUnsafeSlow(gatheredBytes)
  readonly #soon = (): void => this.flush()
  #bytes = this.#usual
  #size = 0
  #events = 0
  /** Where the line begins that is being told. */
  #lineStart = 0
  /** What was told of the last request, and where that is. */
  #request: AuditEvent | undefined = undefined
  #requestStart = 0
  #requestEnd = 0

  constructor(write: (lines: Uint8Array, events: number) => boolean) {
    this.#write = write
  }

  /** A line that tells an event. */
  tell({ event, stage, ms }: StagedEvent): void {
    this.add(eventStart)
    event.tell(this, stage, ms)
    this.add('\n')
    this.#ended(1)
  }

  /** Whole lines. */
  addLines(lines: string, events = 1): void {
    this.add(lines)
    this.#ended(events)
  }

  add(part: string): void {
    const most = part.length * mostBytesOfCharacter
    if (this.#size + most > this.#bytes.length) this.#makeRoom(most)
    this.#size += this.#bytes.write(part, this.#size)
  }

  /** Stages of a request that has to wait for nothing follow each other: what they have in common is copied. */
  addRequest(event: AuditEvent): void {
    const length = this.#requestEnd - this.#requestStart
    if (event === this.#request && this.#size + length <= this.#bytes.length) {
      this.#bytes.copyWithin(this.#size, this.#requestStart, this.#requestEnd)
      this.#size += length
      return
    }
    this.#request = undefined
    const start = this.#size - this.#lineStart
    event.tellRequest(this)
    this.#request = event
    this.#requestStart = this.#lineStart + start
    this.#requestEnd = this.#size
  }

  flush(): void {
    this.#send(this.#size)
    // One long line is no reason to hold so much for ever.
    this.#bytes = this.#usual
  }

  #ended(events: number): void {
    if (this.#events === 0) setImmediate(this.#soon)
    this.#events += events
    this.#lineStart = this.#size
  }

  /** Writes what is whole, and takes more space for a line that is longer than there is. */
  #makeRoom(bytes: number): void {
    this.#send(this.#lineStart)
    if (this.#size + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.#size + bytes))
    this.#bytes.copy(larger, 0, 0, this.#size)
    this.#bytes = larger
  }

  /** Writes the lines up to a place, and keeps what is behind it. */
  #send(end: number): void {
    const events = this.#events
    if (events === 0) return
    this.#write(this.#bytes.subarray(0, end), events)
    this.#bytes.copyWithin(0, end, this.#size)
    this.#size -= end
    this.#events = 0
    this.#lineStart = 0
    this.#request = undefined
  }
}
