/** Runs a command with the terminal of this process, and ends this process as the command ended. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { errorCode } from '../../../lib/explained-error.ts'

export interface ChildExit {
  readonly code: number
  /** The signal that ended the command. */
  readonly signal?: NodeJS.Signals
}

/** Signals that users and programs send to end a command. */
const passedSignals = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const
type PassedSignal = (typeof passedSignals)[number]

/** A terminal sends these to all processes of its foreground group, so the command gets them without help. */
const fromTerminal: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT'])

/** Signals that this process ends itself with; others would write a core dump of t8s. */
const repeatedSignals: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'])

/** Catches signals from now on, so that this process outlives its command, and can clean up. */
export class SignalsForChild {
  /** The first signal that came before the command ran. */
  early: PassedSignal | undefined
  readonly #pass = new Map<PassedSignal, () => void>()
  #send: ((signal: PassedSignal) => void) | undefined

  constructor() {
    for (const signal of passedSignals) {
      const pass = (): void => {
        if (this.#send) this.#send(signal)
        else this.early ??= signal
      }
      this.#pass.set(signal, pass)
      process.on(signal, pass)
    }
  }

  /** Sends signals to `send` from now on, except those that the terminal has sent to the command, too. */
  passTo(send: (signal: PassedSignal) => void): void {
    this.#send = (signal) => {
      if (!(fromTerminal.has(signal) && isInForeground())) send(signal)
    }
  }

  /** Signals have their usual effect again. */
  release(): void {
    for (const [signal, pass] of this.#pass) process.off(signal, pass)
  }
}

/**
 * Runs a command and resolves when it has ended. As in shells, the code is 127 for a command that does not exist and
 * 126 for one that cannot run; `report` gets the reason.
 */
export function runChild(
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  signals: SignalsForChild,
  report: (reason: string) => void,
): Promise<ChildExit> {
  const { promise, resolve } = Promise.withResolvers<ChildExit>()
  const child = spawn(program, args, { env, stdio: 'inherit' })
  signals.passTo((signal) => child.kill(signal))
  child.on('error', (error) => {
    const isMissing = errorCode(error) === 'ENOENT'
    report(
      isMissing
        ? `cannot run ${program}: no such command; check its name and PATH`
        : `cannot run ${program}: ${error.message}`,
    )
    resolve({ code: isMissing ? 127 : 126 })
  })
  child.on('exit', (code, signal) =>
    resolve(signal === null ? { code: code ?? 1 } : { code: 128 + constants.signals[signal], signal }),
  )
  return promise
}

/** Ends this process as the command ended, once all else is done: by the same signal, or with its code. */
export function endAs({ code, signal }: ChildExit): void {
  process.exitCode = code
  if (signal && repeatedSignals.has(signal)) process.kill(process.pid, signal)
}

/** True if a terminal sends its signals to this process, and so to the command, which has the same process group. */
function isInForeground(): boolean {
  if (process.platform !== 'linux') return process.stdin.isTTY || process.stderr.isTTY
  // The name in parentheses may contain any character. After it: state, parent, group, session, terminal, its group.
  const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return group === foreground
}
