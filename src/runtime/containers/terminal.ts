/** The terminals of containers. They outlive the runtime: the keeper, or a process beside it, holds the master open. */
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { Terminals } from '../executors/executor.ts'
import { type ConsoleSocket, openConsoleSocket } from '../host/console-socket.ts'
import { loadLibc } from '../host/libc.ts'
import { textOf } from '../host/processes.ts'
import { watchFolder } from '../host/watch-folder.ts'
import { exitOf, holderOf, type KeptStreams, keeperFiles, keeperOf } from './keeper.ts'

/** The number of the file in the keeper or the holder that is the master of the terminal. */
const masterFile = 3

/** The terminal of a container that is about to start. */
export interface NewTerminal {
  readonly streams: KeptStreams
  /** The socket for the executor, if it sends terminals. */
  readonly console: string | undefined
  /**
   * Resolves with the master, after the keeper was started; with undefined if the executor has ended without a
   * terminal. `ended` resolves when nobody uses the terminal any more.
   */
  open(ended: Promise<void>): Promise<number | undefined>
}

/** Prepares a terminal in the folder of a container. */
export function prepareTerminal(folder: string, terminals: Terminals): NewTerminal {
  if (terminals !== 'sent')
    return { streams: 'terminal', console: undefined, open: (ended) => openKeptTerminal(folder, ended) }
  const console = join(folder, 'console')
  const socket = openConsoleSocket(console)
  return { streams: 'sent-terminal', console, open: () => receiveTerminal(folder, socket) }
}

/** The master of the terminal of a container that an earlier runtime has started; undefined if it is lost. */
export function adoptTerminal(folder: string): number | undefined {
  const holder = holderOf(folder) ?? keeperOf(folder)
  return holder && loadLibc().takeFile(holder.pid, masterFile)
}

/** Connects the terminal that the keeper has opened. */
async function openKeptTerminal(folder: string, ended: Promise<void>): Promise<number> {
  const libc = loadLibc()
  await new Promise<void>((resolve) => {
    watchFolder(folder, () => {
      if (!textOf(join(folder, keeperFiles.keeper)).endsWith('\n')) return false
      resolve()
      return true
    })
  })
  const keeper = keeperOf(folder)
  if (!keeper) throw new RpcError('Unknown', 'the keeper of the container has ended')
  const master = libc.takeFile(keeper.pid, masterFile)
  // Opened for reading, too, so that it does not wait for the keeper.
  const file = openSync(join(folder, keeperFiles.terminal), constants.O_RDWR)
  writeFileSync(file, `${libc.unlockTerminal(master)}\n`)
  // The keeper must read the line before the last writer closes.
  void ended.then(() => closeSync(file))
  return master
}

async function receiveTerminal(folder: string, socket: ConsoleSocket): Promise<number | undefined> {
  try {
    const master = await socket.receive(() => exitOf(folder) !== undefined)
    if (master !== undefined) hold(folder, master)
    return master
  } finally {
    socket.close()
  }
}

/** Starts a process that holds a terminal open until the container is over. */
function hold(folder: string, master: number): void {
  const stdio = ['ignore', 'ignore', 'ignore', master] as const
  const child = spawn('sleep', ['2147483647'], { detached: true, stdio: [...stdio] })
  // Without `sleep`, the terminal ends with the runtime.
  child.once('error', () => {})
  child.unref()
  if (child.pid !== undefined) writeFileSync(join(folder, keeperFiles.holder), `${child.pid}\n`)
}
