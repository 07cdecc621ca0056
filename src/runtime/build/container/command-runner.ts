/** Runs the commands of `RUN` by an executor of the runtime, in the network of the machine. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../lib/message-of.ts'
import type { Executor } from '../../executors/executor.ts'
import { findExecutor } from '../../executors/find-executor.ts'
import { removeCgroup } from '../../executors/remove-cgroup.ts'
import { ImageError, ownName } from '../../images/index.ts'
import { runSpec } from './run-spec.ts'

export interface RunCommand {
  readonly args: readonly string[]
  readonly environment: ReadonlyMap<string, string>
  readonly workingDir: string
  /** As in an image: a name or number, with or without a group. */
  readonly user: string
}

export interface CommandRunnerOptions {
  /** The folder `unfinished` of the store: what a killed build leaves there is removed with the garbage. */
  readonly folder: string
  /** `auto`, `shell`, or the name or path of crun or runc. */
  readonly executor: string
  /** Gets the output of commands. */
  readonly output: (chunk: Buffer) => void
}

export class CommandRunner {
  readonly #options: CommandRunnerOptions
  readonly #folder: string
  #executor: Promise<Executor> | undefined

  constructor(options: CommandRunnerOptions) {
    this.#options = options
    this.#folder = join(options.folder, `${ownName()}.${randomBytes(6).toString('hex')}`)
  }

  /** Resolves with the exit code. Rejects with an ImageError if the container cannot start, or if it is canceled. */
  async run(root: string, command: RunCommand, signal: AbortSignal | undefined): Promise<number> {
    const executor = await (this.#executor ??= this.#findExecutor())
    const id = randomBytes(16).toString('hex')
    const folder = join(this.#folder, id)
    mkdirSync(folder, { mode: 0o700 })
    try {
      executor.prepare(folder, runSpec({ id, folder, root, command }))
      const code = await this.#wait(executor, id, folder, signal)
      const error = executor.errorIn(join(folder, 'log'))
      if (code !== 0 && error !== undefined && !existsSync(join(folder, 'pid')))
        throw new ImageError('Unknown', `${command.args[0]} cannot be run: ${error}`)
      return code
    } finally {
      await removeCgroup(executor, folder).catch(() => {})
      await executor.remove(id)
      rmSync(folder, { recursive: true, force: true })
    }
  }

  /** Removes the files of the executor. */
  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #findExecutor(): Promise<Executor> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o711 })
    const log = (message: string): void => this.#options.output(Buffer.from(`${message}\n`))
    try {
      const places = { root: this.#folder, state: this.#folder }
      return await findExecutor({ name: this.#options.executor, ...places, log })
    } catch (error) {
      throw new ImageError('FailedPrecondition', messageOf(error), { cause: error })
    }
  }

  #wait(executor: Executor, id: string, folder: string, signal: AbortSignal | undefined): Promise<number> {
    const [program, ...args] = executor.runCommand(id, folder)
    return new Promise((resolve, reject) => {
      // A signal of the terminal must not reach it: the container is ended as a whole.
      const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
      const stop = (): void => void endContainer(folder)
      signal?.addEventListener('abort', stop, { once: true })
      for (const stream of [child.stdout, child.stderr]) stream.on('data', this.#options.output)
      child.once('error', reject)
      child.once('close', (code) => {
        signal?.removeEventListener('abort', stop)
        if (signal?.aborted) reject(new ImageError('Canceled', 'the build was interrupted'))
        else resolve(code ?? 255)
      })
    })
  }
}

/** Ends the first process, and with it the others of its namespace. */
function endContainer(folder: string): void {
  const file = join(folder, 'pid')
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  try {
    if (pid > 1) process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
