/** Shows the steps of a build; the output of a command only while it runs, and if it fails. */
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import type { BuildReport } from '../../../runtime/build/index.ts'

export interface BuildProgressOptions {
  /** Undefined shows nothing. */
  readonly terminal: WriteStream | undefined
  /** True prints the output of all commands. */
  readonly isPlain: boolean
}

/** On an output that is no terminal, a long step says so often that it still runs, in ms. */
const aliveMs = 30_000
const redrawMs = 100
/** Output of a command that failed, in bytes: the end of it. */
const maxOutputBytes = 64 * 1024

export class BuildProgress implements BuildReport {
  readonly #terminal: WriteStream | undefined
  readonly #isPlain: boolean
  #output: Buffer[] = []
  #outputBytes = 0
  #startedAt = 0
  #shownAt = 0
  #isLineShown = false
  #alive: NodeJS.Timeout | undefined

  constructor({ terminal, isPlain }: BuildProgressOptions) {
    this.#terminal = terminal
    this.#isPlain = isPlain
  }

  step({ number, total, text, isCached }: Parameters<BuildReport['step']>[0]): void {
    this.end()
    this.#output = []
    this.#outputBytes = 0
    this.#startedAt = Date.now()
    const width = Math.max(40, (this.#terminal?.columns ?? 120) - 24)
    const short = text.length > width ? `${text.slice(0, width - 1)}…` : text
    this.#terminal?.write(`[${number}/${total}] ${short}${isCached ? ' (cached)' : ''}\n`)
    if (!this.#terminal || this.#terminal.isTTY || this.#isPlain) return
    this.#alive = setInterval(() => this.#terminal?.write(`    running for ${this.#seconds()} s\n`), aliveMs)
    this.#alive.unref()
  }

  output(chunk: Buffer): void {
    if (this.#isPlain) {
      this.#terminal?.write(chunk)
      return
    }
    this.#output.push(chunk)
    this.#outputBytes += chunk.length
    while (this.#outputBytes - this.#output[0]!.length > maxOutputBytes)
      this.#outputBytes -= this.#output.shift()!.length
    const now = Date.now()
    if (!this.#terminal?.isTTY || now - this.#shownAt < redrawMs) return
    this.#shownAt = now
    const line =
      stripVTControlCharacters(chunk.toString())
        .trimEnd()
        .split(/[\r\n]/)
        .at(-1) ?? ''
    const text = `    ${this.#seconds()} s  ${line.replace(/\t/g, ' ')}`
    this.#terminal.write(`\r\x1b[K${text.slice(0, (this.#terminal.columns || 80) - 1)}`)
    this.#isLineShown = true
  }

  /** Prints the output of the command that has failed. */
  failed(): void {
    this.end()
    const text = Buffer.concat(this.#output).toString()
    if (text !== '') this.#terminal?.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Removes the line of a running command. */
  end(): void {
    clearInterval(this.#alive)
    if (this.#isLineShown) this.#terminal?.write('\r\x1b[K')
    this.#isLineShown = false
  }

  #seconds(): number {
    return Math.round((Date.now() - this.#startedAt) / 1000)
  }
}
