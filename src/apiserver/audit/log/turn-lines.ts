/**
 * Writes all lines of an event loop turn together, before the network sends the responses that they describe. Lines are
 * encoded to bytes immediately: strings that live longer cost the garbage collector more than their creation.
 */
import type { StagedEvent } from '../backend.ts'

/** The start of an event in the format `json`. */
export const eventStart = '{"kind":"Event","apiVersion":"audit.k8s.io/v1",'

/** The size of the buffer. */
const bufferBytes = 256 * 1024
const maxBytesPerCharacter = 3

export class TurnLines {
  readonly #write: (lines: Uint8Array, events: number) => boolean
  readonly #bytes = Buffer.allocUnsafeSlow(bufferBytes)
  readonly #soon = (): void => this.flush()
  #size = 0
  #events = 0

  constructor(write: (lines: Uint8Array, events: number) => boolean) {
    this.#write = write
  }

  /** Adds the line of an event. */
  addEvent({ event, stage, ms }: StagedEvent): void {
    // Array.join gives a flat string. A rope of concatenations takes four times as long to write.
    this.addLines([eventStart, event.members(stage, ms), '\n'].join(''))
  }

  /** Adds whole lines. */
  addLines(lines: string, events = 1): void {
    const maxBytes = lines.length * maxBytesPerCharacter
    if (this.#size + maxBytes > bufferBytes) {
      this.flush()
      if (maxBytes > bufferBytes) {
        this.#write(Buffer.from(lines), events)
        return
      }
    }
    if (this.#events === 0) setImmediate(this.#soon)
    this.#size += this.#bytes.write(lines, this.#size)
    this.#events += events
  }

  flush(): void {
    const events = this.#events
    if (events === 0) return
    this.#write(this.#bytes.subarray(0, this.#size), events)
    this.#size = 0
    this.#events = 0
  }
}
