/** Shows how far a long task is, in one line of a terminal. */
import type { WriteStream } from 'node:tty'

const intervalMs = 100

export class StepProgress {
  readonly #terminal: WriteStream | undefined
  #shownAt = 0

  /** Shows nothing on an output that is no terminal. */
  constructor(output: WriteStream) {
    this.#terminal = output.isTTY ? output : undefined
  }

  /** Says what is done, and how many steps of all are done. */
  show(what: string, done: number, all: number): void {
    const now = Date.now()
    if (!this.#terminal || now - this.#shownAt < intervalMs) return
    this.#shownAt = now
    this.#terminal.write(`\r\x1b[K${what}: ${done} of ${all}`)
  }

  /** Removes the line. */
  end(): void {
    if (this.#shownAt > 0) this.#terminal?.write('\r\x1b[K')
    this.#shownAt = 0
  }
}
