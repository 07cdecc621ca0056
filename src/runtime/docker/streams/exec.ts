/** Runs commands in containers by the engine. */
import { setTimeout as delay } from 'node:timers/promises'
import { isConflict } from '../../../lib/docker-engine/index.ts'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { TerminalSize } from '../../../node/streaming/remote-command/remote-command.ts'
import { recordOf, treeOf } from '../../host/processes.ts'
import type { DockerParts } from '../docker-parts.ts'
import { type ClientStreams, copyInput, copyOutput } from './copy-streams.ts'
import { isLocalProcess } from './local-process.ts'

export interface DockerExecRequest extends ClientStreams {
  readonly words: readonly string[]
  readonly onResize?: (callback: (size: TerminalSize) => void) => void
  /** 0 means no limit. */
  readonly timeoutMs: number
}

interface ExecInspection {
  readonly Running: boolean
  readonly ExitCode: number | null
  readonly Pid: number
}

/** Ctrl-P and Ctrl-Q belong to the programs in terminals: the engine looks for a sequence that nobody types. */
export const detachKeys = Array.from({ length: 8 }, () => 'ctrl-@').join(',')

/** An engine may report the end of a command some time after that of its output. In ms. */
const pausesMs = [20, 80, 400, 1_500, 2_000, 2_000, 2_000, 2_000]

/** Resolves with the exit code. Rejects if the command cannot be started, or with DeadlineExceeded. */
export async function execIn(parts: DockerParts, containerId: string, request: DockerExecRequest): Promise<number> {
  const { engine } = parts
  const { isTerminal, onResize, timeoutMs } = request
  try {
    const id = await createExec(parts, containerId, request)
    const connection = await engine.hijack({ path: `/exec/${id}/start`, body: { Detach: false, Tty: isTerminal } })
    onResize?.(({ width, height }) => {
      if (width > 0 && height > 0) void resize(parts, `/exec/${id}`, { width, height })
    })
    const timer = new AbortController()
    let isLate = false
    const limit = async (): Promise<void> => {
      await delay(timeoutMs, undefined, { signal: timer.signal })
      isLate = true
      await killExec(parts, containerId, id)
      connection.destroy()
    }
    if (timeoutMs > 0) void limit().catch(() => {})
    copyInput(request, connection)
    let beginning = ''
    try {
      beginning = await copyOutput(request, connection)
    } catch (error) {
      if (!isLate) throw error
    } finally {
      timer.abort()
      connection.destroy()
    }
    if (isLate) throw timeoutError(timeoutMs)
    const { exitCode, isStarted } = await endOf(parts, containerId, id)
    // The engine writes its error into the output.
    if (!isStarted) throw new Error(`failed to start exec: ${beginning.trim()}`)
    return exitCode
  } catch (error) {
    if (error instanceof RpcError) throw error
    throw new RpcError('Unknown', `failed to exec in container: ${messageOf(error)}`, { cause: error })
  }
}

/** The sizes of clients that change often may be late; one that fails is dropped. */
export function resize({ engine }: DockerParts, path: string, { width, height }: TerminalSize): Promise<void> {
  return engine.json({ method: 'POST', path: `${path}/resize`, query: { w: width, h: height } }).then(
    () => {},
    () => {},
  )
}

async function createExec({ engine }: DockerParts, containerId: string, request: DockerExecRequest): Promise<string> {
  const { words, isTerminal, stdin, stdout, stderr } = request
  const body = {
    Cmd: words,
    Tty: isTerminal,
    AttachStdin: stdin !== undefined,
    AttachStdout: stdout !== undefined,
    AttachStderr: stderr !== undefined,
    DetachKeys: detachKeys,
  }
  try {
    const path = `/containers/${containerId}/exec`
    return (await engine.json<{ readonly Id: string }>({ method: 'POST', path, body })).Id
  } catch (error) {
    if (isConflict(error)) throw new Error(`container is not running: ${messageOf(error)}`, { cause: error })
    throw error
  }
}

const inspect = ({ engine }: DockerParts, id: string): Promise<ExecInspection> =>
  engine.json({ path: `/exec/${id}/json` })

interface ExecEnd {
  readonly exitCode: number
  readonly isStarted: boolean
}

async function endOf(parts: DockerParts, containerId: string, id: string): Promise<ExecEnd> {
  for (const pauseMs of pausesMs) {
    const { Running, ExitCode, Pid } = await inspect(parts, id)
    if (!Running && ExitCode !== null) return { exitCode: ExitCode, isStarted: Pid > 0 }
    await delay(pauseMs)
  }
  parts.log(`Exec session ${id} in container ${containerId} terminated but process still running!`, 'error')
  return { exitCode: 0, isStarted: true }
}

const timeoutError = (ms: number): RpcError =>
  new RpcError(
    'DeadlineExceeded',
    `failed to exec in container: timeout ${ms / 1000}s exceeded: context deadline exceeded`,
  )

const maxKills = 500
const killPauseMs = 10

/** Docker cannot end a command: on this machine, its processes are killed; on others, they remain. */
async function killExec(parts: DockerParts, containerId: string, id: string): Promise<void> {
  const { Pid } = await inspect(parts, id)
  const root = isLocalProcess(Pid, containerId) ? recordOf(Pid) : undefined
  if (!root) return
  for (let attempt = 0; attempt < maxKills; attempt++) {
    const left = treeOf(root).filter(({ pid }) => isLocalProcess(pid, containerId))
    if (left.length === 0) return
    for (const { pid } of left)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
    await delay(killPauseMs)
  }
}
