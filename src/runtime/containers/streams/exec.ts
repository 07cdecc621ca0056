/** Runs commands in containers. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { ReadStream } from 'node:tty'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import type { CommandLine, ExecFiles, Executor } from '../../executors/executor.ts'
import { announceSize } from '../../host/announce-size.ts'
import { openConsoleSocket } from '../../host/console-socket.ts'
import { type Libc, loadLibc, type TerminalSize } from '../../host/libc.ts'
import { recordOf, textOf, treeOf } from '../../host/processes.ts'
import type { ProcessRecord } from '../../state/records.ts'
import { type Container, wrongState } from '../container.ts'
import { copyOutput, writeToTerminal } from './copy.ts'

export interface ExecRequest {
  readonly words: readonly string[]
  readonly isTerminal: boolean
  readonly stdin: Readable | undefined
  readonly stdout: Writable | undefined
  readonly stderr: Writable | undefined
  readonly onResize?: (callback: (size: TerminalSize) => void) => void
  /** After it, the command and all that it has started are killed. 0 means no limit. */
  readonly timeoutMs: number
}

/** Resolves with the exit code. Rejects if the command cannot be started, or with DeadlineExceeded. */
export async function execIn(container: Container, executor: Executor, request: ExecRequest): Promise<number> {
  if (container.state !== 'running') throw failure(wrongState(container).message)
  const files = filesOf(container)
  const { process: own } = executor.specOf(container.folder)
  const process = { ...own, terminal: request.isTerminal, args: request.words, env: environmentOf(own.env, request) }
  const command = executor.execCommand(container.id, process, files)
  const timeout = new AbortController()
  try {
    const libc = loadLibc()
    const { child, exited, outputs } = !request.isTerminal
      ? startWithPipes(libc, command, request)
      : executor.terminals === 'sent'
        ? await startWithSentTerminal(libc, command, request, files.console)
        : startWithTerminal(libc, command, request, executor.terminals === 'copied')
    const ended = Promise.all([exited, ...outputs]).then(([code]) => code as number)
    let isLate = false
    const kill = (): Promise<void> => {
      isLate = true
      return killTree(files, child)
    }
    const code = await Promise.race([ended, limit(request.timeoutMs, timeout.signal, kill)])
    if (isLate) throw timeoutError(request.timeoutMs)
    const error = textOf(files.pid) ? undefined : executor.errorIn(files.log)
    if (error) throw failure(`failed to start exec: ${error}`)
    return code
  } finally {
    timeout.abort()
    for (const file of Object.values(files)) rmSync(file, { force: true })
  }
}

const unknownCode = 255

const failure = (message: string): RpcError => new RpcError('Unknown', `failed to exec in container: ${message}`)

const timeoutError = (ms: number): RpcError =>
  new RpcError(
    'DeadlineExceeded',
    `failed to exec in container: timeout ${ms / 1000}s exceeded: context deadline exceeded`,
  )

function filesOf({ folder }: Container): ExecFiles {
  const name = join(folder, `exec-${randomBytes(8).toString('hex')}`)
  return { pid: `${name}.pid`, log: `${name}.log`, process: `${name}.json`, console: `${name}.sock` }
}

const environmentOf = (env: readonly string[], { isTerminal }: ExecRequest): readonly string[] =>
  isTerminal && !env.some((variable) => variable.startsWith('TERM=')) ? [...env, 'TERM=xterm'] : env

/** Resolves after the time, when `kill` has ended. Never resolves without a limit. */
async function limit(ms: number, signal: AbortSignal, kill: () => Promise<void>): Promise<number> {
  try {
    if (ms > 0) await delay(ms, undefined, { signal })
    else await new Promise(() => {})
  } catch {
    return new Promise(() => {})
  }
  await kill()
  return unknownCode
}

/**
 * Kills the command with its children until nothing of it is left. The executor reads their exit codes and ends by
 * itself: if it were killed, too, processes of the container would remain as zombies, which hold up its end.
 */
async function killTree(files: ExecFiles, child: ChildProcess): Promise<void> {
  const executor = recordOf(child.pid ?? 0)
  for (let attempt = 0; attempt < maxKills; attempt++) {
    const command = recordOf(Number(textOf(files.pid)))
    const left = [executor, command].flatMap((root) => (root ? treeOf(root) : []))
    const others = left.filter(({ pid }) => pid !== child.pid)
    if (others.length === 0 && child.exitCode !== null) return
    for (const { pid } of others) killQuietly(pid)
    await delay(killPauseMs)
  }
  child.kill('SIGKILL')
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

const maxKills = 500
const killPauseMs = 10

interface StartedCommand {
  readonly child: ChildProcess
  readonly exited: Promise<number>
  /** Resolve when the output has ended. */
  readonly outputs: readonly Promise<void>[]
}

/** Resolves with the exit code. Rejects if the program could not be started. */
const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? unknownCode))
  })

function startWithPipes(libc: Libc, command: CommandLine, request: ExecRequest): StartedCommand {
  const { stdin, stdout, stderr } = request
  const [program, ...args] = command
  const [outRead, outWrite] = libc.pipe()
  const [errRead, errWrite] = libc.pipe()
  const input = stdin ? libc.pipe() : undefined
  const child = spawn(program, args, { stdio: [input ? input[0] : 'ignore', outWrite, errWrite] })
  const exited = exitOf(child)
  for (const file of [outWrite, errWrite, ...(input ? [input[0]] : [])]) closeSync(file)
  if (stdin && input) {
    const writer = new Socket({ fd: input[1], readable: false, writable: true })
    // The command may end without reading all.
    writer.on('error', () => stdin.resume())
    stdin.pipe(writer)
    child.once('exit', () => {
      stdin.unpipe(writer)
      stdin.resume()
      writer.destroy()
    })
  }
  const read = (file: number, to: Writable | undefined): Promise<void> =>
    copyOutput(new Socket({ fd: file, readable: true, writable: false }), to)
  return { child, exited, outputs: [read(outRead, stdout), read(errRead, stderr)] }
}

function startWithTerminal(libc: Libc, command: CommandLine, request: ExecRequest, isCopied: boolean): StartedCommand {
  const master = openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY)
  const slave = openSync(libc.unlockTerminal(master), constants.O_RDWR | constants.O_NOCTTY)
  let executor: ProcessRecord | undefined
  let latest: TerminalSize | undefined
  const stream = new ReadStream(master)
  request.onResize?.((size) => {
    // The stream closes the terminal, whose number may then belong to another file.
    if (stream.destroyed) return
    latest = size
    libc.resizeTerminal(master, size)
    if (executor) void announceSize(executor, size).catch(() => {})
  })
  const [program, ...args] = command
  const child = spawn(program, args, { stdio: [slave, slave, slave], detached: true })
  const exited = exitOf(child)
  closeSync(slave)
  executor = isCopied ? recordOf(child.pid ?? 0) : undefined
  if (executor && latest) void announceSize(executor, latest).catch(() => {})
  const output = copyOutput(stream, request.stdout)
  if (request.stdin) void writeToTerminal(request.stdin, master, output)
  return { child, exited, outputs: [output] }
}

/** The executor sends the terminal when it has made it. */
async function startWithSentTerminal(
  libc: Libc,
  [program, ...args]: CommandLine,
  request: ExecRequest,
  path: string,
): Promise<StartedCommand> {
  const socket = openConsoleSocket(path)
  const child = spawn(program, args, { stdio: 'ignore', detached: true })
  const exited = exitOf(child)
  let isOver = false
  const ended = exited.then(
    () => {},
    () => {},
  )
  void ended.then(() => {
    isOver = true
  })
  const master = await socket.receive(() => isOver)
  socket.close()
  if (master === undefined) return { child, exited, outputs: [] }
  const stream = new ReadStream(master)
  request.onResize?.((size) => {
    if (!isOver && !stream.destroyed) libc.resizeTerminal(master, size)
  })
  const output = copyOutput(stream, request.stdout)
  if (request.stdin) void writeToTerminal(request.stdin, master, output)
  // Processes that the command leaves behind hold the terminal open.
  void ended.then(() => delay(drainMs, undefined, { ref: false })).then(() => stream.destroy())
  return { child, exited, outputs: [output] }
}

/** The time to read the last output of a command. In ms. */
const drainMs = 1_000
