/**
 * The process of a container runtime under test, in network and mount namespaces of its own, with its own folder: it
 * sees and changes nothing of the machine's containers, interfaces and rules. Needs root.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { linuxMounter } from '../../../../src/kubelet/volumes/mounts/linux-mounter.ts'
import { mountsWithin } from '../../../../src/kubelet/volumes/mounts/mount-table.ts'
import { findCgroups } from '../../../../src/node/cgroups/tree/find-cgroups.ts'
import { nodeNamespaceScript } from '../../../support/node-namespaces.ts'
import { isInNamespaces } from '../in-namespaces.ts'

const run = promisify(execFile)

/** The cgroup of a runtime's pods, which its kubelet gets as `cgroupRoot`: tests share no cgroups. */
export const cgroupRootOf = (endpoint: string): string => `/${basename(dirname(endpoint))}`

/** Prepares the namespaces and becomes the runtime. */
const script = `${nodeNamespaceScript}\nexec "$@"`

export class RuntimeProcess {
  readonly folder: string
  readonly socket: string
  readonly #command: readonly string[]
  readonly #log: string[] = []
  #child: ChildProcess | undefined

  /** `commandOf` returns the program and its arguments for a folder and the socket in it. */
  constructor(name: string, commandOf: (folder: string, socket: string) => readonly string[]) {
    this.folder = mkdtempSync(join(tmpdir(), `t8s-${name}-`))
    this.socket = join(this.folder, `${name}.sock`)
    this.#command = commandOf(this.folder, this.socket)
    findCgroups().create(cgroupRootOf(this.endpoint))
  }

  get endpoint(): string {
    return `unix://${this.socket}`
  }

  get pid(): number {
    return this.#child!.pid!
  }

  /** Runs a command in the namespaces and resolves with the output. */
  async enter(command: string, ...args: string[]): Promise<string> {
    const nsenter = ['-t', String(this.pid), '-n', '-m', command, ...args]
    return (await run('nsenter', nsenter, { maxBuffer: 1 << 26 })).stdout
  }

  /** Resolves when the runtime has its socket. */
  async start(): Promise<void> {
    const [program, ...args] = isInNamespaces() ? ['sh'] : ['unshare', '-n', '-m', 'sh']
    const all = [...args, '-c', script, 'sh', ...this.#command]
    const child = spawn(program!, all, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => void this.#log.push(text))
    for (let waited = 0; !existsSync(this.socket); waited += 50) {
      if (child.exitCode !== null || waited > 60_000)
        throw new Error(`${this.#command[0]} has not started:\n${this.#log.join('')}`)
      await delay(50)
    }
  }

  /** Stops the runtime alone: containers continue. */
  async stop(): Promise<void> {
    const child = this.#child
    if (!child) return
    const exited = new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(0)))
    child.kill('SIGTERM')
    await exited
  }

  /** Starts the runtime again after `stop`. Only for tests in namespaces. */
  async restart(): Promise<void> {
    if (!isInNamespaces()) throw new Error('runtimes restart only in the namespaces of the test process')
    rmSync(this.socket, { force: true })
    await this.start()
  }

  /** Ends the runtime and the processes that outlive it, and removes its folder. */
  async end(): Promise<void> {
    await this.stop()
    for (const pid of this.#others()) process.kill(pid, 'SIGKILL')
    await removeCgroups(cgroupRootOf(this.endpoint))
    // Those of containers that the runtime has not removed yet.
    for (const { target } of mountsWithin(await linuxMounter.list(), this.folder)) await linuxMounter.unmount(target)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }

  /** The processes that have a path of the folder in their command line: shims, or shells of containers. */
  #others(): number[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.map(Number).filter((pid) => {
      try {
        return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.folder)
      } catch {
        return false
      }
    })
  }
}

/** Ends the containers that remain, and removes all cgroups of the runtime's pods. */
async function removeCgroups(path: string): Promise<void> {
  const tree = findCgroups()
  for (const pid of tree.processes(path))
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  while (tree.processes(path).length > 0) await delay(50)
  await tree.remove(path)
}
