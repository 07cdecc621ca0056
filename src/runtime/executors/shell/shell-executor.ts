/**
 * Runs containers without crun or runc: by a shell, and a program for each container that this runtime writes itself
 * (`program/`). It makes the system calls that enter namespaces, mount, drop rights and run the container's program.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { basename, join } from 'node:path'
import { messageOf } from '../../../lib/message-of.ts'
import type { OciProcess, OciResources, OciSpec } from '../../spec/oci-spec.ts'
import type { CommandLine, ExecFiles, Executor } from '../executor.ts'
import { readSpec, writeSpec } from '../prepared-spec.ts'
import { ContainerCgroups } from './cgroups/container-cgroups.ts'
import { commandProgram, containerProgram } from './container-program.ts'
import { errorInLog } from './program/program-error.ts'
import { ProgramWriter } from './program/program-writer.ts'

/**
 * Arguments: the container's folder, its program, then folders of cgroups. The program opens the FIFO until the
 * container has started or failed; `pid` appears only then. Its own output is that of the container. Without the
 * subshell, dash would hold the FIFO open itself.
 */
const runScript = `
cd "$1" || exit 1
program=$2
shift 2
mkfifo -m 600 state
{ read -r line <state; [ -s log ] || mv pid.new pid; } </dev/null >/dev/null 2>&1 &
(exec "$program" 5>&2 2>>log 3>>log 4>state)
code=$?
wait
for folder; do
  tries=0
  while [ $tries -lt 100 ] && read -r pid <"$folder/cgroup.procs"; do
    kill -9 "$pid"
    tries=$((tries + 1))
    sleep 0.05
  done
done 2>/dev/null
for pause in 0.01 0.05 0.1 0.5 1; do
  rmdir "$@" && break
  sleep $pause
done 2>/dev/null
exit $code
`

/** Arguments: the log and the program, which replaces the shell. */
const execScript = 'exec "$2" 5>&2 2>>"$1" 3>>"$1" 4</dev/null'

/** The container as its folder in the executor's own folder describes it. */
interface Started {
  readonly folder: string
  readonly cgroupsPath: string
}

export class ShellExecutor implements Executor {
  readonly name = 'shell'
  readonly version = 'a shell and system calls'
  readonly supportsRecursiveReadOnly = true
  readonly supportsUserNamespaces = false
  readonly supportsHooks = false
  readonly terminals = 'own'
  readonly checkpoints = undefined
  readonly #root: string
  readonly #cgroups = new ContainerCgroups()

  /** `root` is a folder for programs, on a file system without `noexec`. Throws an Error if this machine cannot. */
  constructor(root: string) {
    const [major = 0, minor = 0] = release().split('.').map(Number)
    if (major < 5 || (major === 5 && minor < 12))
      throw new Error(`containers without crun or runc need Linux 5.12, not ${release()}: apt-get install crun`)
    // Throws an Error for an architecture without programs.
    new ProgramWriter()
    this.#root = root
    mkdirSync(root, { recursive: true, mode: 0o700 })
  }

  prepare(folder: string, spec: OciSpec): void {
    writeSpec(folder, spec)
  }

  specOf(folder: string): OciSpec {
    return readSpec(folder)
  }

  runCommand(id: string, folder: string): CommandLine {
    try {
      const spec = readSpec(folder)
      const { cgroupsPath, resources } = spec.linux
      mkdirSync(this.#folder(id), { recursive: true, mode: 0o700 })
      writeFileSync(this.#record(id), JSON.stringify({ folder, cgroupsPath } satisfies Started))
      this.#cgroups.create(cgroupsPath, resources)
      const folders = this.#cgroups.folders(cgroupsPath)
      const { version } = this.#cgroups
      const cgroups = { folders, version, visible: this.#cgroups.visible(cgroupsPath) }
      const program = join(this.#folder(id), 'container')
      writeFileSync(program, containerProgram(spec, cgroups, join(folder, 'pid.new')), { mode: 0o700 })
      return ['/bin/sh', '-c', runScript, 't8s-container', folder, program, ...folders]
    } catch (error) {
      writeFileSync(join(folder, 'log'), messageOf(error))
      return ['/bin/false']
    }
  }

  execCommand(id: string, process: OciProcess, files: ExecFiles): CommandLine {
    const { folder, cgroupsPath } = this.#started(id)
    const program = join(this.#folder(id), basename(files.process))
    const bytes = commandProgram(readSpec(folder), process, {
      pid: Number(readFileSync(join(folder, 'pid'), 'utf8')),
      pidFile: files.pid,
      folders: this.#cgroups.folders(cgroupsPath),
      program,
    })
    writeFileSync(program, bytes, { mode: 0o700 })
    return ['/bin/sh', '-c', execScript, 't8s-exec', files.log, program]
  }

  errorIn(log: string): string | undefined {
    return errorInLog(log)
  }

  async update(id: string, _folder: string, resources: OciResources): Promise<void> {
    this.#cgroups.set(this.#started(id).cgroupsPath, resources)
  }

  async remove(id: string): Promise<void> {
    if (!existsSync(this.#record(id))) return
    await this.#cgroups.remove(this.#started(id).cgroupsPath)
    rmSync(this.#folder(id), { recursive: true, force: true })
  }

  #started(id: string): Started {
    return JSON.parse(readFileSync(this.#record(id), 'utf8')) as Started
  }

  #folder(id: string): string {
    return join(this.#root, id)
  }

  #record(id: string): string {
    return join(this.#folder(id), 'container.json')
  }
}
