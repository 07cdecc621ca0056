/** A terminal for tests, with tmux: reads the screen and sends keys. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { without } from './home.ts'

/** The folder and the environment of the shell. */
export interface TerminalHome {
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

export interface TestTerminal {
  /** The screen without empty lines at the end; wrapped lines are joined. */
  screen(): string
  /** Resolves with the screen when it matches. */
  shows(pattern: RegExp): Promise<string>
  /** Types a text. */
  types(text: string): void
  /** Presses keys, with tmux's names: `Enter`, `Down`, `Escape`, `C-c`. */
  presses(...keys: readonly string[]): void
  /** Changes the size of the terminal. */
  resizes(columns: number, rows: number): void
  /** Runs a command and resolves with the screen when the shell is ready again. */
  runs(command: string): Promise<string>
}

/** The reason to skip such tests, or false. */
export const withoutTmux: string | false =
  without('tmux') || (!statSync('/dev/null').isCharacterDevice() && '/dev/null is a file, and tmux needs the device')

const prompt = 'ready$'

/** A shell in a home on a terminal of 120 columns and 30 lines; ends with the test. */
export async function testTerminal(t: Lifetime, home: TerminalHome): Promise<TestTerminal> {
  // The home may be deleted before the terminal ends.
  const folder = mkdtempSync(join(tmpdir(), 't8s-tmux-'))
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-S', join(folder, 'socket'), '-f', join(folder, 'conf'), ...args], {
      env: { ...home.environment, TERM: 'xterm', ENV: join(folder, 'rc') },
      encoding: 'utf8',
      cwd: folder,
    })
  writeFileSync(join(folder, 'conf'), 'set -g escape-time 0\nset -g default-terminal screen\n')
  writeFileSync(join(folder, 'rc'), `PS1='${prompt}'\n`)
  tmux('new-session', '-d', '-x', '120', '-y', '30', '-c', home.folder, 'exec sh -i')
  t.after(() => {
    tmux('kill-server')
    rmSync(folder, { recursive: true, force: true })
  })
  const screen = (): string => tmux('capture-pane', '-p', '-J').replace(/ +$/gm, '').trimEnd()
  const types = (text: string): void => void tmux('send-keys', '-l', text)
  const presses = (...keys: readonly string[]): void => void tmux('send-keys', ...keys)
  const shows = async (pattern: RegExp): Promise<string> => {
    try {
      return await waitFor(`${pattern}`, () => (pattern.test(screen()) ? screen() : false), { deadlineMs: 30_000 })
    } catch (error) {
      throw new Error(`${pattern} was not shown:\n${screen()}`, { cause: error })
    }
  }
  const empty = (): Promise<string> => shows(/^ready\$$/m)
  await empty()
  return {
    screen,
    shows,
    types,
    presses,
    resizes: (columns, rows) => void tmux('resize-window', '-x', `${columns}`, '-y', `${rows}`),
    async runs(command) {
      tmux('send-keys', '-R')
      tmux('clear-history')
      types(`clear; ${command}; echo "ended with $?"`)
      presses('Enter')
      return shows(/ended with \d+\s+ready\$$/)
    },
  }
}
