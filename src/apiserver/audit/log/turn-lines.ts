/**
 * Lines of one turn of the event loop are written together, before the network has sent the answers that they are
 * about. They become bytes at once: texts that have to be kept for a while cost the garbage collector more than they
 * did to make.
 */
import type { StagedEvent } from '../backend.ts'

/** What events begin with in the format `json`. */
export const eventStart = '{"kind":"Event","apiVersion":"audit.k8s.io/v1",'

/** More is not gathered. */
const gatheredBytes = 256 * 1024
const mostBytesOfCharacter = 3

export class TurnLines {
  readonly #write: (lines: Uint8Array, events: number) => boolean
  readonly #bytes = Buffer.allocUnsafeSlow(gatheredBytes)
  readonly #soon = (): void => this.flush()
  #size = 0
  #events = 0

  constructor(write: (lines: Uint8Array, events: number) => boolean) {
    this.#write = write
  }

  /** A line that tells an event. */
  tell({ event, stage, ms }: StagedEvent): void {
    // Joined it is one text; what is put together otherwise is a tree of texts, which takes four times as long to
    // write.
    this.addLines([eventStart, event.members(stage, ms), '\n'].join(''))
  }

  /** Whole lines. */
  addLines(lines: string, events = 1): void {
    const most = lines.length * mostBytesOfCharacter
    if (this.#size + most > gatheredBytes) {
      this.flush()
      if (most > gatheredBytes) {
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
