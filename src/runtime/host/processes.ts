/** Processes of the host as `/proc` shows them. A number may belong to a later process: its start time differs. */
import { readdirSync, readFileSync } from 'node:fs'
import type { ProcessRecord } from '../state/records.ts'

export interface ProcessStat {
  readonly pid: number
  readonly parent: number
  readonly session: number
  /** In ticks since the boot. */
  readonly startTicks: string
  /** It has ended, and its parent has not read its status yet. */
  readonly isZombie: boolean
}

/** Undefined if there is no such process. */
export function statOf(pid: number): ProcessStat | undefined {
  const text = textOf(`/proc/${pid}/stat`)
  // The name is in parentheses, and may have any characters.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 20) return undefined
  const [state = '', parent, , session] = fields
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    startTicks: fields[19]!,
    isZombie: state === 'Z' || state === 'X',
  }
}

export function recordOf(pid: number): ProcessRecord | undefined {
  const stat = statOf(pid)
  return stat && !stat.isZombie ? { pid, startTicks: stat.startTicks } : undefined
}

/** True if the same process still runs. */
export function isRunning({ pid, startTicks }: ProcessRecord): boolean {
  const stat = statOf(pid)
  return stat !== undefined && !stat.isZombie && stat.startTicks === startTicks
}

/** Sends a signal, if the same process still runs. */
export function signalProcess(record: ProcessRecord, signal: NodeJS.Signals | number): void {
  if (!isRunning(record)) return
  try {
    process.kill(record.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** True if the process has a handler for the signal, or has blocked it to read it from a file. */
export function handlesSignal(pid: number, signal: number): boolean {
  const status = textOf(`/proc/${pid}/status`)
  const masks = [...status.matchAll(/^Sig(?:Blk|Cgt):\s*([0-9a-f]+)$/gm)]
  return masks.some(([, mask]) => ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n)
}

/** The words of a command line. */
export const commandLineOf = (pid: number): string[] => textOf(`/proc/${pid}/cmdline`).split('\0').slice(0, -1)

/** The processes that a command has started, and itself: by session, as those of ended parents lose their ancestors. */
export function treeOf(root: ProcessRecord): ProcessStat[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []))
  const found = new Set([root.pid])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const { pid, parent, session } of all) if (found.has(parent) || found.has(session)) found.add(pid)
  }
  return all.filter(({ pid, isZombie }) => found.has(pid) && !isZombie)
}

export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
