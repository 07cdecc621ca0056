/** Starts the process of a machine, in namespaces of its own: network, mounts, processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../lib/message-of.ts'
import type { RealNodeTask } from '../real-node/thread/messages.ts'
import type { MachineCommand, MachineReport } from './process/messages.ts'

// Source in a checkout, built in the bundle.
const file = new URL(import.meta.url.endsWith('.ts') ? './process/main.ts' : './machine-process.js', import.meta.url)

/** Mounts of pods reach containers, but not this machine. Cgroups of v2 beside v1 have no controllers. */
const script = 'mount --make-rslave / && mount --make-rshared / && exec "$@"'
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'slave']

/** Time in ms for a machine to end its pods. */
const stopMs = 15_000

export class MachineProcess {
  readonly name: string
  readonly #child: ChildProcess
  readonly #log: (line: string) => void
  readonly #exited: Promise<unknown>
  readonly #ready = Promise.withResolvers<void>()
  readonly #started = Promise.withResolvers<void>()
  #isStopping = false

  constructor(name: string, log: (line: string) => void) {
    this.name = name
    this.#log = log
    const program = [process.execPath, ...process.execArgv.filter(isForAll), fileURLToPath(file)]
    this.#child = spawn('unshare', [...namespaces, '/bin/sh', '-c', script, 't8s-machine', ...program], {
      // A session of its own: the terminal sends signals to the cluster only.
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    for (const { promise } of [this.#ready, this.#started]) promise.catch(() => {})
    this.#exited = Promise.race([once(this.#child, 'exit'), once(this.#child, 'error')])
    void this.#exited.then(() => this.#ended())
    this.#child.on('message', (report: MachineReport) => this.#handle(report))
  }

  /** The process whose network is that of the machine. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Resolves when the namespaces exist. Rejects if the process ends before. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Resolves when the node is registered. */
  start(task: RealNodeTask): Promise<void> {
    this.#send({ task })
    return this.#started.promise
  }

  /** Ends its pods and the process. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#send({ stop: true })
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopMs)
    await this.#exited.catch(() => {})
    clearTimeout(timer)
  }

  #send(command: MachineCommand): void {
    if (!this.#child.connected) return
    this.#child.send(command, (error) => {
      if (error && !this.#isStopping) this.#log(`${this.name} does not answer: ${messageOf(error)}`)
    })
  }

  #handle(report: MachineReport): void {
    if ('ready' in report) this.#ready.resolve()
    else if ('started' in report) this.#started.resolve()
    else if ('failed' in report) this.#started.reject(new Error(report.failed))
    else this.#log(`${this.name}: ${report.log}`)
  }

  #ended(): void {
    const error = new Error(`the process of ${this.name} has ended`)
    this.#ready.reject(error)
    this.#started.reject(error)
    if (!this.#isStopping) this.#log(`${error.message}: its node is not ready, until the cluster is started again`)
  }
}

/** Options of test runners are for their own files. */
const isForAll = (flag: string): boolean => !/^--(?:test|inspect)/.test(flag)
