/** Checkpoints by an OCI runtime, which lets criu write the memory of the processes. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../../host/run-program.ts'
import type { CheckpointFolders, Checkpointing, CommandLine } from '../executor.ts'

export interface OciCheckpointsOptions {
  /** Adds the program and its options for all commands. */
  readonly command: (log: string, ...args: readonly string[]) => CommandLine
  readonly errorIn: (log: string) => string | undefined
}

export class OciCheckpoints implements Checkpointing {
  readonly #options: OciCheckpointsOptions

  constructor(options: OciCheckpointsOptions) {
    this.#options = options
  }

  async pause(id: string): Promise<void> {
    await this.#run('/dev/null', ['pause', id])
  }

  async resume(id: string): Promise<void> {
    await this.#run('/dev/null', ['resume', id])
  }

  async dump(id: string, { images, work }: CheckpointFolders, timeoutMs: number): Promise<void> {
    const folders = ['--image-path', images, '--work-path', work]
    const command = ['checkpoint', ...folders, '--leave-running', id]
    await this.#run(join(work, 'executor.log'), command, timeoutMs).catch((error: unknown) => {
      const reason = criuError(join(work, 'dump.log'))
      throw reason === undefined ? error : new Error(`criu cannot dump it: ${reason}`)
    })
  }

  async #run(log: string, args: readonly string[], timeoutMs?: number): Promise<void> {
    const { command, errorIn } = this.#options
    const [program, ...words] = command(log, ...args)
    const { code, stderr } = await runProgram(program, words, timeoutMs === undefined ? {} : { timeoutMs })
    if (code === 0) return
    const error = log === '/dev/null' ? undefined : errorIn(log)
    throw new Error(`${program} ${args[0]}: ${error ?? (stderr.trim() || `exit status ${code}`)}`)
  }
}

/** The first error in a log of criu, without time and place: `(00.003) Error (criu/vdso.c:381): vdso: Unexpected …`. */
function criuError(log: string): string | undefined {
  if (!existsSync(log)) return undefined
  return /^(?:\(\S+\) )?(?:\s*\d+: )?Error \(\S+\): (.+)$/m.exec(readFileSync(log, 'utf8'))?.[1]
}
