/** Runs containers by crun or runc. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram, succeed } from '../../host/run-program.ts'
import type { OciProcess, OciResources, OciSpec } from '../../spec/oci-spec.ts'
import type { Checkpointing, CommandLine, ExecFiles, Executor, Terminals } from '../executor.ts'
import { readSpec, writeSpec } from '../prepared-spec.ts'
import { OciCheckpoints } from './oci-checkpoints.ts'

export interface OciExecutorOptions {
  /** Such as `crun`, or a path. */
  readonly program: string
  /** The folder of the program's own state. */
  readonly root: string
}

export class OciExecutor implements Executor {
  readonly name: string
  readonly version: string
  readonly supportsRecursiveReadOnly: boolean
  readonly supportsUserNamespaces: boolean
  readonly supportsHooks = true
  /** crun loses output of short commands if it copies it; runc sends terminals of detached containers only. */
  readonly terminals: Terminals
  /** runc runs criu; crun has it as a library, which not all builds use. */
  readonly checkpoints: Checkpointing | undefined
  readonly #options: OciExecutorOptions

  private constructor(options: OciExecutorOptions, version: string, hasCriu: boolean) {
    this.#options = options
    this.version = version
    this.name = /^(\S+)/.exec(version)?.[1] ?? options.program
    this.supportsUserNamespaces = isAtLeast(version, this.name === 'runc' ? [1, 2] : [1, 8])
    this.supportsRecursiveReadOnly = isAtLeast(version, this.name === 'runc' ? [1, 1] : [1, 4])
    this.terminals = this.name === 'crun' ? 'sent' : 'copied'
    const command = (log: string, ...args: readonly string[]): CommandLine => this.#command(log, ...args)
    this.checkpoints = hasCriu ? new OciCheckpoints({ command, errorIn: (log) => this.errorIn(log) }) : undefined
    mkdirSync(options.root, { recursive: true, mode: 0o700 })
  }

  /** Rejects if the program cannot be run. */
  static async create(options: OciExecutorOptions): Promise<OciExecutor> {
    const output = await succeed(options.program, ['--version'])
    const version = output.split('\n', 1)[0]!
    return new OciExecutor(options, version, !version.startsWith('crun') || output.includes('+CRIU'))
  }

  prepare(folder: string, spec: OciSpec): void {
    writeSpec(folder, spec)
  }

  specOf(folder: string): OciSpec {
    return readSpec(folder)
  }

  runCommand(id: string, folder: string, console?: string): CommandLine {
    const files = ['--bundle', folder, '--pid-file', join(folder, 'pid')]
    const socket = console === undefined ? [] : ['--console-socket', console]
    return this.#command(join(folder, 'log'), 'run', ...files, ...socket, id)
  }

  execCommand(id: string, process: OciProcess, files: ExecFiles): CommandLine {
    writeFileSync(files.process, JSON.stringify(process), { mode: 0o600 })
    const socket = this.terminals === 'sent' ? ['--console-socket', files.console] : []
    const terminal = process.terminal ? ['--tty', ...socket] : []
    return this.#command(files.log, 'exec', ...terminal, '--process', files.process, '--pid-file', files.pid, id)
  }

  errorIn(log: string): string | undefined {
    if (!existsSync(log)) return undefined
    const lines = readFileSync(log, 'utf8').trim().split('\n').filter(Boolean)
    for (const line of lines.reverse()) {
      const { level, msg } = JSON.parse(line) as { readonly level?: string; readonly msg?: string }
      if (level === 'error' && msg) return msg
    }
    return undefined
  }

  async update(id: string, folder: string, resources: OciResources): Promise<void> {
    const file = join(folder, 'resources.json')
    writeFileSync(file, JSON.stringify(resources), { mode: 0o600 })
    const [program, ...args] = this.#command(join(folder, 'log'), 'update', '--resources', file, id)
    const { code, stderr } = await runProgram(program, args)
    if (code !== 0) throw new Error(this.errorIn(join(folder, 'log')) ?? (stderr.trim() || `exit status ${code}`))
  }

  async remove(id: string): Promise<void> {
    if (!existsSync(join(this.#options.root, id))) return
    const [program, ...args] = this.#command('/dev/null', 'delete', '--force', id)
    await runProgram(program, args)
  }

  #command(log: string, ...args: readonly string[]): CommandLine {
    const { program, root } = this.#options
    return [program, '--root', root, '--log', log, '--log-format', 'json', ...args]
  }
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, a = '0', b = '0'] = /(\d+)\.(\d+)/.exec(version) ?? []
  return Number(a) > major || (Number(a) === major && Number(b) >= minor)
}
