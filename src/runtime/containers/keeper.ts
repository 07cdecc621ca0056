/**
 * The parent of a container: a shell that outlives the runtime. It holds the container's streams open, so that writers
 * wait for the runtime instead of failing, and it keeps the exit code. It ends when the runtime has read everything.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandLine } from '../executors/executor.ts'
import { loadLibc } from '../host/libc.ts'
import { commandLineOf, recordOf, signalProcess, textOf } from '../host/processes.ts'
import { spawnDetached } from '../host/spawn-detached.ts'
import type { ProcessRecord } from '../state/records.ts'

/** The files of a keeper in the folder of its container. */
export const keeperFiles = {
  /** FIFOs of the container's output and input. */
  out: 'out',
  err: 'err',
  in: 'in',
  /** Has the exit code when the container has ended. */
  exit: 'exit',
  /** Has the number of the first process. */
  pid: 'pid',
  log: 'log',
  /** A FIFO that gets the path of the keeper's terminal. */
  terminal: 'terminal',
  /** A FIFO without a writer, at which the keeper waits until it is terminated. */
  gate: 'gate',
  keeper: 'keeper',
  /** The process that holds the input, or a terminal that was sent, open. */
  holder: 'holder',
  token: 'token',
} as const

const wait = `
code=$?
echo "$code" >exit
`

const pipesScript = `
cd "$1" || exit 1
shift
echo $$ >keeper
read -r token <token
exec 3<>out 4<>err
input=/dev/null
if [ -e in ]; then
  sleep 2147483647 >in 3>&- 4>&- &
  echo $! >holder
  input=in
fi
"$@" <"$input" >out 2>err 3>&- 4>&-
${wait}
if [ -e holder ]; then kill "$(cat holder)"; fi
printf '\\000t8s-end %s\\000' "$token" >&3
printf '\\000t8s-end %s\\000' "$token" >&4
read -r line <gate
`

// Without the subshell, dash would move the master to another number while the container runs.
const terminalScript = `
cd "$1" || exit 1
shift
exec 3<>/dev/ptmx
echo $$ >keeper
read -r slave <terminal
(exec "$@" <"$slave" >"$slave" 2>"$slave" 3>&-)
${wait}
read -r line <gate
`

// The executor sends the terminal to the runtime, which starts a holder for it.
const sentTerminalScript = `
cd "$1" || exit 1
shift
echo $$ >keeper
"$@" </dev/null >/dev/null 2>&1
${wait}
read -r line <gate
`

/** The streams of a container: FIFOs, a terminal of the keeper, or a terminal that the executor sends. */
export type KeptStreams = 'pipes' | 'terminal' | 'sent-terminal'

const scripts = { pipes: pipesScript, terminal: terminalScript, 'sent-terminal': sentTerminalScript } as const

export interface KeeperOptions {
  readonly streams: KeptStreams
  readonly hasInput: boolean
}

/** Starts the keeper of a container. Throws an Error if it cannot be started. */
export function startKeeper(folder: string, command: CommandLine, { streams, hasInput }: KeeperOptions): ProcessRecord {
  writeFileSync(join(folder, keeperFiles.token), `${randomBytes(16).toString('hex')}\n`, { mode: 0o600 })
  const { gate, out, err, in: input, terminal } = keeperFiles
  const ofPipes = hasInput ? [out, err, input] : [out, err]
  const fifos = { pipes: ofPipes, terminal: [terminal], 'sent-terminal': [] }[streams]
  for (const fifo of [gate, ...fifos]) {
    // A runtime may have been killed before it has started the keeper.
    rmSync(join(folder, fifo), { force: true })
    loadLibc().makeFifo(join(folder, fifo))
  }
  const pid = spawnDetached(['/bin/sh', '-c', scripts[streams], 't8s-keeper', folder, ...command])
  return recordOf(pid) ?? { pid, startTicks: '' }
}

/** The keeper that has been started for a folder; undefined if it no longer runs. */
export function keeperOf(folder: string): ProcessRecord | undefined {
  const pid = Number(textIn(folder, keeperFiles.keeper))
  if (!pid) return undefined
  // After a reboot the number may be that of another process.
  const words = commandLineOf(pid)
  return words.includes('t8s-keeper') && words.includes(folder) ? recordOf(pid) : undefined
}

/** Ends a keeper whose container has ended and whose output was read, and the holder. */
export function releaseKeeper(folder: string): void {
  const keeper = keeperOf(folder)
  if (keeper) signalProcess(keeper, 'SIGTERM')
  endHolder(folder)
}

/** The process that holds the input or the terminal of a container open, while it runs. */
export function holderOf(folder: string): ProcessRecord | undefined {
  const holder = Number(textIn(folder, keeperFiles.holder))
  const [name = ''] = commandLineOf(holder)
  return name.endsWith('sleep') ? recordOf(holder) : undefined
}

/** Ends the input of a container. */
export function endHolder(folder: string): void {
  const holder = holderOf(folder)
  if (holder) signalProcess(holder, 'SIGTERM')
}

export interface KeptExit {
  readonly code: number
  /** In ns since 1970. */
  readonly at: bigint
}

/** The exit of the container; undefined while it runs. */
export function exitOf(folder: string): KeptExit | undefined {
  const file = join(folder, keeperFiles.exit)
  const text = textOf(file)
  // The keeper creates it, and writes the line then.
  return text.endsWith('\n') ? { code: Number(text), at: statSync(file, { bigint: true }).mtimeNs } : undefined
}

/** The number of the container's first process; undefined before it has started. */
export function pidOf(folder: string): number | undefined {
  return Number(textIn(folder, keeperFiles.pid)) || undefined
}

/** The bytes that a keeper writes after the last output. */
export const endMark = (folder: string): Buffer => Buffer.from(`\0t8s-end ${textIn(folder, keeperFiles.token)}\0`)

function textIn(folder: string, name: string): string {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}
