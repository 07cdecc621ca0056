/** Runs the collection of images every five minutes. */
import { messageOf } from '../../../lib/message-of.ts'
import type { ImageCollector } from './image-collector.ts'

export interface CollectionLoopOptions {
  readonly collector: Pick<ImageCollector, 'isDisabled' | 'collect' | 'detect'>
  readonly log: (line: string) => void
  /** Calls back once after so many ms; the returned function cancels that. */
  readonly schedule: (callback: () => void, ms: number) => () => void
  /** Records an event of the node. */
  record(reason: string, message: string): void
}

const periodMs = 300_000

export class CollectionLoop {
  readonly #options: CollectionLoopOptions
  #hasFailed = false
  #isStopped = false
  #cancel: (() => void) | undefined

  constructor(options: CollectionLoopOptions) {
    this.#options = options
  }

  /** Runs the first collection now: it only learns which images there are, because all of them are new. */
  start(): void {
    void this.#run()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  async #run(): Promise<void> {
    const { collector, record, log, schedule } = this.#options
    try {
      await (collector.isDisabled ? collector.detect() : collector.collect())
      this.#hasFailed = false
    } catch (error) {
      const message = messageOf(error)
      log(`cannot collect images: ${message}`)
      // Once may be by chance.
      if (this.#hasFailed) record('ImageGCFailed', message)
      this.#hasFailed = true
    }
    if (!this.#isStopped) this.#cancel = schedule(() => void this.#run(), periodMs)
  }
}
