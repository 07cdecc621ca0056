/** Frames that leave together: those of one turn of the event loop are one write to the socket. */

export class Outgoing {
  readonly #write: (bytes: Buffer) => void
  #parts: Buffer[] = []
  #isScheduled = false

  constructor(write: (bytes: Buffer) => void) {
    this.#write = write
  }

  push(...parts: readonly Buffer[]): void {
    this.#parts.push(...parts)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.flush())
  }

  flush(): void {
    this.#isScheduled = false
    const parts = this.#parts
    if (parts.length === 0) return
    this.#parts = []
    this.#write(parts.length === 1 ? parts[0]! : Buffer.concat(parts))
  }
}
