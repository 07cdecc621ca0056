/** Collects what a program writes by `console`, which it leaves as it is: Node publishes the calls from 24 on. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { format } from 'node:util'

const channels = ['console.log', 'console.info', 'console.debug', 'console.warn', 'console.error']
const maxLength = 256 * 1024

export class ConsoleLines {
  #text = ''
  #isCut = false

  constructor() {
    for (const channel of channels) subscribe(channel, this.#record)
  }

  /** Ends the collection, and returns its text. */
  end(): string {
    for (const channel of channels) unsubscribe(channel, this.#record)
    return this.#isCut ? `${this.#text}… cut off after ${maxLength} characters\n` : this.#text
  }

  readonly #record = (values: unknown): void => {
    if (this.#text.length > maxLength) this.#isCut = true
    else this.#text += `${Array.isArray(values) ? format(...values) : format(values)}\n`
  }
}
