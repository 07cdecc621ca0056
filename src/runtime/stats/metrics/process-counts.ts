/** The processes of a container as `/proc` shows them. */
import { readdirSync, readlinkSync } from 'node:fs'
import { textOf } from '../../host/processes.ts'

export interface ProcessCounts {
  readonly threads: number
  readonly files: number
  readonly sockets: number
  /** The soft limit of open files of the first process; undefined without one. */
  readonly maxFiles: number | undefined
}

/** `first` is the number of the first process. Processes that end meanwhile count as empty. */
export function processCounts(pids: readonly number[], first: number): ProcessCounts {
  const links = pids.flatMap(openFiles)
  return {
    threads: pids.reduce((sum, pid) => sum + threadsOf(pid), 0),
    files: links.length,
    sockets: links.filter((link) => link.startsWith('socket:')).length,
    maxFiles: softLimit(textOf(`/proc/${first}/limits`), 'Max open files'),
  }
}

function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).map((name) => readlinkSync(`${folder}/${name}`))
  } catch {
    return []
  }
}

const threadsOf = (pid: number): number => Number(/^Threads:\s*(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0)

function softLimit(text: string, name: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(name))
  const [, value] = /^(\d+)\s/.exec(line?.slice(name.length).trim() ?? '') ?? []
  return value === undefined ? undefined : Number(value)
}
