/** Shows how far a long task is, in one line of a terminal that changes ten times a second at most. */
import type { WriteStream } from 'node:tty'

const intervalMs = 100

export class ProgressLine {
  readonly #terminal: WriteStream | undefined
  #shownAt = 0

  /** Shows nothing without an output, or on one that is no terminal. */
  constructor(output: WriteStream | undefined) {
    this.#terminal = output?.isTTY ? output : undefined
  }

  /** Shows the line that `text` returns. */
  show(text: () => string): void {
    const now = Date.now()
    if (!this.#terminal || now - this.#shownAt < intervalMs) return
    this.#shownAt = now
    this.#terminal.write(`\r\x1b[K${text()}`)
  }

  /** Shows what is done, and how many steps of all are done. */
  showSteps(what: string, done: number, all: number): void {
    this.show(() => `${what}: ${done} of ${all}`)
  }

  /** Removes the line. */
  end(): void {
    if (this.#shownAt > 0) this.#terminal?.write('\r\x1b[K')
    this.#shownAt = 0
  }
}
