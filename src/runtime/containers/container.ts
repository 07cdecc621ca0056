/** One container: it is created, started once, ends, and is removed. Its process outlives the runtime. */
import { rmSync } from 'node:fs'
import { constants as osConstants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { Log } from '../../lib/log/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Executor } from '../executors/executor.ts'
import { removeCgroup } from '../executors/remove-cgroup.ts'
import { announceSize } from '../host/announce-size.ts'
import { killProcessesIn } from '../host/cgroup-processes.ts'
import type { KernelKills } from '../host/kernel-kills.ts'
import { loadLibc, type TerminalSize } from '../host/libc.ts'
import { isRunning, recordOf, signalProcess, statOf } from '../host/processes.ts'
import { watchFolder } from '../host/watch-folder.ts'
import type { ContainerEnd, ContainerRecord } from '../state/records.ts'
import { exitOf, type KeptExit, keeperFiles, keeperOf, pidOf, releaseKeeper, startKeeper } from './keeper.ts'
import { ContainerOutput } from './logs/container-output.ts'
import { adoptTerminal, prepareTerminal } from './terminal.ts'

export type ContainerState = 'created' | 'running' | 'exited'

export interface ContainerParts {
  readonly executor: Executor
  readonly kills: KernelKills
  readonly log: Log
  readonly save: (record: ContainerRecord) => void
  /** Called after each change of the state. */
  readonly changed: (container: Container, change: 'started' | 'stopped') => void
}

/** As containerd's, for containers that could not be started, and those whose exit nobody has seen. */
const startErrorCode = 128
const unknownCode = 255
/** Other processes may hold the output open after the container has ended. In ms. */
const outputTimeoutMs = 10_000
/** After SIGKILL; in ms. */
const killTimeoutMs = 60_000

/**
 * The keeper reports the end of a container, and only its own violent end has to be looked for. If containers share
 * processes, the end of the first one has to be, too. In ms.
 */
const slowPollMs = 5_000

export const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n

export class Container {
  /** Its files, which a reboot removes. */
  readonly folder: string
  readonly #parts: ContainerParts
  readonly #ended = Promise.withResolvers<void>()
  #record: ContainerRecord
  #output: ContainerOutput | undefined
  #terminal: number | undefined
  #stopWatch: (() => void) | undefined
  #isStarting = false
  #isEnding = false
  #isReleased = false

  constructor(record: ContainerRecord, folder: string, parts: ContainerParts) {
    this.#record = record
    this.folder = folder
    this.#parts = parts
    if (record.end) this.#ended.resolve()
  }

  get record(): ContainerRecord {
    return this.#record
  }

  get id(): string {
    return this.#record.id
  }

  get state(): ContainerState {
    if (this.#record.end) return 'exited'
    return this.#record.startedAt === undefined ? 'created' : 'running'
  }

  /** Resolves when it has ended and all its output is in the log. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Undefined unless it runs. */
  get output(): ContainerOutput | undefined {
    return this.#output
  }

  /** The master of its terminal, while it runs with one. */
  get terminal(): number | undefined {
    return this.#terminal
  }

  /** Changes the size of its terminal, if it runs with one. */
  async resize(size: TerminalSize): Promise<void> {
    const libc = loadLibc()
    if (this.#terminal === undefined) return
    libc.resizeTerminal(this.#terminal, size)
    if (this.#parts.executor.terminals !== 'copied') return
    const executor = recordOf(statOf(this.#record.process?.pid ?? 0)?.parent ?? 0)
    if (executor) await announceSize(executor, size)
  }

  /** Starts it. Rejects with the executor's error, after which it has exited. */
  async start(): Promise<void> {
    if (this.state !== 'created' || this.#isStarting) throw wrongState(this)
    const { tty, stdin } = this.#record.config
    const { executor } = this.#parts
    const terminal = tty ? prepareTerminal(this.folder, executor.terminals) : undefined
    const command = executor.runCommand(this.id, this.folder, terminal?.console)
    const keeper = startKeeper(this.folder, command, { streams: terminal?.streams ?? 'pipes', hasInput: stdin })
    this.#isStarting = true
    const started = Promise.withResolvers<void>()
    const isStarted = (): boolean => {
      if (!pidOf(this.folder) && !exitOf(this.folder) && isRunning(keeper)) return false
      started.resolve()
      return true
    }
    try {
      this.#terminal = await terminal?.open(this.ended)
    } catch (error) {
      return this.#failStart(messageOf(error))
    }
    const stop = watchFolder(this.folder, isStarted)
    await started.promise
    stop()
    if (!pidOf(this.folder)) return this.#failStart(this.#startError())
    this.#run(nowNs())
    this.#parts.changed(this, 'started')
  }

  async #failStart(message: string): Promise<never> {
    await this.#finish({ code: startErrorCode, at: nowNs() }, 'StartError', message)
    throw new RpcError('Unknown', message)
  }

  /** Goes on with a container of an earlier runtime. */
  async adopt(): Promise<void> {
    if (this.#record.end) return
    const pid = pidOf(this.folder)
    const keeper = keeperOf(this.folder)
    if (this.#record.startedAt === undefined && !pid && !keeper) return
    if (!keeper && !exitOf(this.folder)) {
      await this.#finish({ code: unknownCode, at: nowNs() }, 'Unknown', '')
      return
    }
    if (this.#record.config.tty && keeper) this.#terminal = adoptTerminal(this.folder)
    this.#isStarting = true
    this.#run(this.#record.startedAt ?? nowNs())
  }

  /** Sends the stop signal and, after the time, kills. Resolves when it has ended. */
  async stop(graceMs: number): Promise<void> {
    if (this.state === 'created') return
    const process = this.#record.process
    if (this.state === 'running') {
      if (graceMs > 0 && process) {
        signalProcess(process, signalOf(this.#record.stopSignal))
        await Promise.race([this.ended, delay(graceMs, undefined, { ref: false })])
      }
      if (this.state === 'running') this.kill()
    }
    const isOver = await Promise.race([this.ended.then(() => true), delay(killTimeoutMs, false, { ref: false })])
    if (!isOver)
      throw new RpcError('DeadlineExceeded', `container ${JSON.stringify(this.id)} has not ended after SIGKILL`)
  }

  /** Kills all its processes. */
  kill(): void {
    if (this.#record.process) signalProcess(this.#record.process, 'SIGKILL')
    this.#killOthers()
  }

  update(change: Partial<Pick<ContainerRecord, 'config' | 'isRemoved'>>): void {
    this.#record = { ...this.#record, ...change }
    this.#parts.save(this.#record)
  }

  /** Stops reading its output and waiting for its end: a later runtime continues. */
  release(): void {
    this.#isReleased = true
    this.#stopWatch?.()
    this.#output?.close()
  }

  /** Removes its files. It does not run. */
  async remove(): Promise<void> {
    this.release()
    releaseKeeper(this.folder)
    const { executor } = this.#parts
    await executor.remove(this.id)
    await removeCgroup(executor, this.folder)
    rmSync(this.folder, { recursive: true, force: true })
  }

  #run(startedAt: bigint): void {
    const process = this.#record.process ?? recordOf(pidOf(this.folder) ?? 0)
    this.#record = { ...this.#record, startedAt, ...(process && { process }) }
    this.#parts.save(this.#record)
    this.#output = new ContainerOutput({
      folder: this.folder,
      logPath: this.#record.logPath,
      terminal: this.#terminal,
    })
    this.#stopWatch = watchFolder(this.folder, () => this.#hasEnded(), this.#hasOwnProcesses() ? slowPollMs : undefined)
  }

  #hasEnded(): boolean {
    const exit = exitOf(this.folder)
    if (exit) void this.#finish(exit, undefined, '')
    else if (!keeperOf(this.folder)) this.#keeperEnded()
    // A first process that has ended before it was recorded is unknown.
    else if (!this.#record.process || !isRunning(this.#record.process)) this.#killOthers()
    return this.#isEnding
  }

  /** Executors wait for all processes. The kernel ends those of a PID namespace with its first one. */
  #killOthers(): void {
    if (!this.#hasOwnProcesses()) killProcessesIn(this.#parts.executor.specOf(this.folder).linux.cgroupsPath)
  }

  #hasOwnProcesses(): boolean {
    const { namespaces } = this.#parts.executor.specOf(this.folder).linux
    return namespaces.some(({ type, path }) => type === 'pid' && path === undefined)
  }

  /** Somebody has killed the keeper: nobody can know the exit code. */
  #keeperEnded(): void {
    if (this.state !== 'running' || this.#isEnding || exitOf(this.folder)) return
    this.kill()
    void this.#finish({ code: unknownCode, at: nowNs() }, 'Unknown', '')
  }

  async #finish(exit: KeptExit, reason: string | undefined, message: string): Promise<void> {
    if (this.#isEnding) return
    this.#isEnding = true
    if (keeperOf(this.folder))
      await Promise.race([this.#output?.ended(), delay(outputTimeoutMs, undefined, { ref: false })])
    // Its end is for a later runtime to record.
    if (this.#isReleased) return
    const output = this.#output
    output?.finish()
    this.#output = undefined
    this.#terminal = undefined
    releaseKeeper(this.folder)
    const isOomKilled = this.#parts.kills.take(this.id)
    const end: ContainerEnd = {
      at: exit.at,
      code: exit.code,
      reason: reason ?? (isOomKilled ? 'OOMKilled' : exit.code === 0 ? 'Completed' : 'Error'),
      message,
    }
    this.#record = { ...this.#record, startedAt: this.#record.startedAt ?? exit.at, end }
    this.#parts.save(this.#record)
    output?.discard()
    this.#ended.resolve()
    this.#parts.changed(this, 'stopped')
  }

  #startError(): string {
    return this.#parts.executor.errorIn(join(this.folder, keeperFiles.log)) ?? 'the executor has reported no error'
  }
}

/** Such as `SIGTERM`, `TERM` or `15`; SIGTERM for anything else. */
export function signalOf(name: string): number {
  const numbers: Readonly<Record<string, number>> = osConstants.signals
  if (/^\d+$/.test(name)) return Number(name)
  const realTime = /^(?:SIG)?RTMIN\+(\d+)$/.exec(name)
  if (realTime) return 34 + Number(realTime[1])
  const upper = name.toUpperCase()
  const full = upper.startsWith('SIG') ? upper : `SIG${upper}`
  return (Object.hasOwn(numbers, full) ? numbers[full] : undefined) ?? osConstants.signals.SIGTERM
}

const stateNames = { created: 'CONTAINER_CREATED', running: 'CONTAINER_RUNNING', exited: 'CONTAINER_EXITED' } as const

/** The error of a call that the state of the container does not allow, in containerd's words. */
export const wrongState = ({ id, state }: Container): RpcError =>
  new RpcError('Unknown', `container ${JSON.stringify(id)} is in ${stateNames[state]} state`)
