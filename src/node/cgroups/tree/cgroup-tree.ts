/** The cgroups of this machine: they are made, limited, read and removed as folders and files of the kernel. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CgroupValues } from './cgroup-values.ts'

/** Paths begin with a slash, such as `/kubepods/burstable`. Methods throw the errors of the file system. */
export interface CgroupTree {
  readonly version: 1 | 2
  /** The folders in which a cgroup is not complete; none if it exists. */
  missing(path: string): readonly string[]
  /** Makes a cgroup with its parents, unless it exists. */
  create(path: string): void
  set(path: string, values: CgroupValues): void
  /** The limits of memory and CPU time. */
  read(path: string): CgroupValues
  /** The memory in use, in bytes. */
  memoryUsage(path: string): bigint
  /** True if the swap of a cgroup can be limited. */
  hasSwapLimit(path: string): boolean
  /** The names of the cgroups directly below, also of incomplete ones. */
  children(path: string): readonly string[]
  /** The processes of a cgroup and of those below. */
  processes(path: string): readonly number[]
  /** Removes a cgroup and those below. Rejects if a process remains. */
  remove(path: string): Promise<void>
}

/** A file system error with its code, such as `EACCES`. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

export const writeValue = (folder: string, name: string, value: string | bigint): void =>
  writeFileSync(join(folder, name), String(value))

/** The content of a file without the last line break. */
export const readValue = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8').trim()

/** The folders in a folder; none if it does not exist. */
export function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

export function processesIn(folder: string): number[] {
  const pids = ownProcesses(folder).split('\n').filter(Boolean).map(Number)
  return [...pids, ...foldersIn(folder).flatMap((name) => processesIn(join(folder, name)))]
}

/** A runtime may remove the cgroup at the same time. */
function ownProcesses(folder: string): string {
  try {
    return readValue(folder, 'cgroup.procs')
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENODEV') return ''
    throw error
  }
}

/** The parents of a path and itself, the highest first: `/a`, `/a/b`. */
export function pathsTo(path: string): string[] {
  const parts = path.split('/').filter(Boolean)
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`)
}

/** Makes a folder unless it exists; its parent exists. */
export function makeFolder(folder: string): void {
  // The recursive variant hides EROFS.
  if (!existsSync(folder)) mkdirSync(folder)
}

const removeAttempts = 6
const firstPauseMs = 10

/** Removes a folder of a cgroup and those in it. The kernel refuses for a moment after its last process has ended. */
export async function removeFolder(folder: string): Promise<void> {
  for (const name of foldersIn(folder)) await removeFolder(join(folder, name))
  for (let attempt = 1; ; attempt++) {
    try {
      return rmdirSync(folder)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return
      if (codeOf(error) !== 'EBUSY' || attempt === removeAttempts) throw error
      await delay(firstPauseMs * 2 ** attempt)
    }
  }
}
