/** Sends the node's range of pod addresses to the runtime, which may set up its network with it. */
import { messageOf } from '../../lib/message-of.ts'

export interface PodRangeOptions {
  /** Sends the ranges, with commas between them. */
  readonly send: (podCidrs: string) => Promise<void>
  readonly log: (line: string) => void
  readonly schedule: (callback: () => void, ms: number) => () => void
}

/** The delay in ms after a failure, as between checks of the node's status. */
const retryMs = 10_000

export class PodRange {
  readonly #options: PodRangeOptions
  #wanted = ''
  #sent = ''
  #isSending = false
  #isStopped = false
  #cancel: (() => void) | undefined

  constructor(options: PodRangeOptions) {
    this.#options = options
  }

  /** Takes the ranges of the node, which may be those that are known. A node without ranges changes nothing. */
  set(podCidrs: readonly string[]): void {
    if (podCidrs.length === 0) return
    this.#wanted = podCidrs.join(',')
    if (!this.#isSending) void this.#send()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  async #send(): Promise<void> {
    const { send, log, schedule } = this.#options
    this.#cancel?.()
    this.#isSending = true
    let hasFailed = false
    while (this.#sent !== this.#wanted && !hasFailed && !this.#isStopped) {
      const range = this.#wanted
      try {
        await send(range)
        this.#sent = range
      } catch (error) {
        log(`failed to update pod CIDR: ${messageOf(error)}`)
        hasFailed = true
      }
    }
    this.#isSending = false
    if (hasFailed && !this.#isStopped) this.#cancel = schedule(() => void this.#send(), retryMs)
  }
}
