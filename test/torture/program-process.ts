/** A program of `t8s` as a process that is killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../support/wait-for.ts'

const launcher = join(import.meta.dirname, '../../t8s')

export interface ProgramOptions {
  /** The words after `t8s`. */
  readonly words: readonly string[]
  /** A text of its output when it serves. */
  readonly ready: string
  /** A file that gets all output. */
  readonly log: string
  /** Called if it ends by itself after it has served, with its exit code or signal. */
  readonly onSurprise?: (how: string) => void
}

export class ProgramProcess {
  readonly #options: ProgramOptions
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  #isEnding = false

  constructor(options: ProgramOptions) {
    this.#options = options
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Resolves when it serves. */
  async start(): Promise<void> {
    const { words, ready, log, onSurprise } = this.#options
    this.#isEnding = false
    const child = spawn(launcher, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        appendFileSync(log, text)
      })
    this.#exited = new Promise((resolve) => child.once('close', () => resolve()))
    await waitFor(`t8s ${words[0]} serves`, () => {
      if (child.exitCode !== null) throw new Error(`t8s ${words[0]} has ended: ${output}`)
      return output.includes(ready)
    })
    child.once('exit', (code, signal) => {
      if (!this.#isEnding) onSurprise?.(`${signal ?? code}`)
    })
  }

  /** Ends it by a signal, and starts it again. */
  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.end(signal)
    await this.start()
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.#isEnding = true
    this.#child?.kill(signal)
    await this.#exited
  }
}
