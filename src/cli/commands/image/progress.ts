/** Shows the progress of a pull in one line of a terminal. */
import type { WriteStream } from 'node:tty'
import type { BlobProgress } from '../../../runtime/images/index.ts'
import { ProgressLine } from '../../terminal/progress-line.ts'
import { sizeText } from './size-text.ts'

export class Progress {
  readonly #line: ProgressLine
  readonly #blobs = new Map<string, BlobProgress>()

  /** Shows nothing on an output that is no terminal. */
  constructor(output: WriteStream | undefined) {
    this.#line = new ProgressLine(output)
  }

  show(blob: BlobProgress): void {
    this.#blobs.set(blob.digest, blob)
    this.#line.show(() => this.#text())
  }

  /** Removes the line. */
  end(): void {
    this.#line.end()
  }

  #text(): string {
    const blobs = [...this.#blobs.values()]
    const sum = (key: 'received' | 'size'): string => sizeText(blobs.reduce((total, one) => total + one[key], 0))
    const done = blobs.filter(({ isDone }) => isDone).length
    return `${done} of ${blobs.length} blobs, ${sum('received')} of ${sum('size')}`
  }
}
