/** Shows the progress of a pull in one line of a terminal. */
import type { WriteStream } from 'node:tty'
import type { BlobProgress } from '../../../runtime/images/index.ts'
import { sizeText } from './size-text.ts'

const intervalMs = 100

export class Progress {
  readonly #terminal: WriteStream | undefined
  readonly #blobs = new Map<string, BlobProgress>()
  #shownAt = 0

  /** Shows nothing on an output that is no terminal. */
  constructor(output: WriteStream | undefined) {
    this.#terminal = output?.isTTY ? output : undefined
  }

  show(blob: BlobProgress): void {
    this.#blobs.set(blob.digest, blob)
    const now = Date.now()
    if (!this.#terminal || now - this.#shownAt < intervalMs) return
    this.#shownAt = now
    const blobs = [...this.#blobs.values()]
    const sum = (key: 'received' | 'size'): string => sizeText(blobs.reduce((total, one) => total + one[key], 0))
    const done = blobs.filter(({ isDone }) => isDone).length
    this.#terminal.write(`\r\x1b[K${done} of ${blobs.length} blobs, ${sum('received')} of ${sum('size')}`)
  }

  /** Removes the line. */
  end(): void {
    if (this.#shownAt > 0) this.#terminal?.write('\r\x1b[K')
    this.#shownAt = 0
  }
}
