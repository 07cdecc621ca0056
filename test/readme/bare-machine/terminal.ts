/** A person at a terminal (tmux): types commands, and waits for the prompt `$ `. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lifetime } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import type { BareMachine } from './machine.ts'

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** A command as it was carried out. */
export interface TypedCommand {
  /** The time from Enter to the first change of the screen, in ms. */
  readonly firstOutputMs: number
  /** The time from Enter to the prompt, or to the awaited text of a command in the background, in ms. */
  readonly durationMs: number
  /** The screen in the end, with escape sequences for colours. */
  readonly screen: string
  /** All lines since the start of the command; wrapped lines are joined. */
  readonly output: readonly string[]
}

export interface TypeOptions {
  /** A text that ends the output of a command in the background. */
  readonly until?: string | undefined
  /** Default: 60,000. */
  readonly deadlineMs?: number
}

const settledMs = 150
/** A prompt that is not on the screen after this time is covered. */
const coveredMs = 500

export class PersonAtTerminal {
  readonly #socket: string
  readonly #machine: Pick<BareMachine, 'prompts'>

  /** Opens a terminal of the machine; it ends with `owner`. */
  constructor(owner: Lifetime, machine: BareMachine, { columns, rows }: TerminalSize) {
    this.#machine = machine
    const folder = mkdtempSync(join(tmpdir(), 't8s-tmux-'))
    this.#socket = join(folder, 'socket')
    this.#tmux('new-session', '-d', '-x', `${columns}`, '-y', `${rows}`, ...machine.shell)
    owner.after(() => {
      this.#tmux('kill-server')
      rmSync(folder, { recursive: true, force: true })
    })
  }

  #tmux(...args: readonly string[]): string {
    const command = ['-S', this.#socket, '-f', '/dev/null', ...args]
    return execFileSync('tmux', command, { encoding: 'utf8', env: { ...process.env, TERM: 'xterm-256color' } })
  }

  /**
   * Types a command and Enter. Resolves when the prompt is back; for a command in the background, when its output has
   * `until`. Rejects with the screen if that takes longer than `deadlineMs`.
   */
  async types(command: string, { until, deadlineMs = 60_000 }: TypeOptions = {}): Promise<TypedCommand> {
    await this.#reachesPrompt(deadlineMs)
    this.#tmux('clear-history')
    const lines = command.split('\n')
    const last = lines.at(-1)!
    for (const line of lines.slice(0, -1)) this.#tmux('send-keys', '-l', `${line}\r`)
    this.#tmux('send-keys', '-l', last)
    await this.#waits(`the echo of ${last}`, deadlineMs, () =>
      this.#screen().trimEnd().endsWith(last.slice(-8).trimEnd()),
    )
    const before = this.#screen().trimEnd()
    const prompts = await this.#settledPrompts()
    // An earlier command may have printed the text.
    const earlier = this.#count(until)
    const start = performance.now()
    this.#tmux('send-keys', 'Enter')
    let firstOutputMs: number | undefined
    await this.#waits(command, deadlineMs, () => {
      const screen = this.#screen()
      if (screen.trimEnd() !== before) firstOutputMs ??= performance.now() - start
      return this.#machine.prompts() > prompts && (until === undefined || this.#count(until) > earlier)
    })
    const durationMs = performance.now() - start
    await this.#reachesPrompt(deadlineMs)
    const output = this.#tmux('capture-pane', '-p', '-J', '-S', '-').trimEnd().split('\n')
    const from = output.findLastIndex((line) => line.startsWith(`$ ${lines[0]}`))
    const screen = this.#tmux('capture-pane', '-p', '-e')
    return { firstOutputMs: firstOutputMs ?? durationMs, durationMs, screen, output: output.slice(from, -1) }
  }

  /** How often a text is on the screen or has left it. */
  #count(text: string | undefined): number {
    return text === undefined ? 0 : this.#tmux('capture-pane', '-p', '-J', '-S', '-').split(text).length - 1
  }

  /** Presses Ctrl-C. */
  interrupts(): void {
    this.#tmux('send-keys', 'C-c')
  }

  /** Waits for a prompt, since a shell loses keys that come before. Presses Enter if an output covers it. */
  async #reachesPrompt(deadlineMs: number): Promise<void> {
    let since = performance.now()
    await this.#waits('the prompt', deadlineMs, () => {
      if (this.#isAtPrompt()) return true
      if (performance.now() - since < coveredMs) return false
      since = performance.now()
      this.#tmux('send-keys', 'Enter')
      return false
    })
  }

  /** The number of prompts when no more of them appear: a shell may have been late. */
  async #settledPrompts(): Promise<number> {
    let count = this.#machine.prompts()
    let since = performance.now()
    return waitFor('the last prompt', () => {
      const now = this.#machine.prompts()
      if (now !== count) since = performance.now()
      count = now
      return performance.now() - since > settledMs && count
    })
  }

  async #waits(what: string, deadlineMs: number, probe: () => boolean): Promise<void> {
    try {
      await waitFor(what, probe, { deadlineMs })
    } catch (error) {
      throw new Error(`${what} has no end:\n${this.#screen()}`, { cause: error })
    }
  }

  #screen(): string {
    return this.#tmux('capture-pane', '-p', '-J')
  }

  #isAtPrompt(): boolean {
    const [x, y] = this.#tmux('display-message', '-p', '#{cursor_x} #{cursor_y}').split(' ').map(Number)
    return x === 2 && this.#tmux('capture-pane', '-p').split('\n')[y!] === '$'
  }
}
