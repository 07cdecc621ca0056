/** Reads usage from the files of cgroups, v1 or v2. Without cgroups, processes stand for those of containers. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CgroupUsage } from './cgroup-usage.ts'
import { usageV1 } from './cgroup-v1.ts'
import { usageV2 } from './cgroup-v2.ts'
import { ProcessUsage } from './process-usage.ts'

/** The path of a process that stands for a cgroup. */
const processPath = /^\/processes\/(\d+)$/

export class CgroupReader {
  readonly #root: string
  readonly #proc: string
  readonly #now: () => number
  readonly #isV2: boolean
  /** Undefined with cgroups. */
  readonly #processes: ProcessUsage | undefined

  /** `root` is `/sys/fs/cgroup`, `proc` is `/proc`. */
  constructor(root: string, proc: string, now: () => number) {
    this.#root = root
    this.#proc = proc
    this.#now = now
    this.#isV2 = existsSync(join(root, 'cgroup.controllers'))
    if (!this.#isV2 && !existsSync(join(root, 'memory'))) this.#processes = new ProcessUsage(proc)
  }

  /** The usage of a cgroup, such as `/kubepods`; undefined if it does not exist. */
  read(path: string): CgroupUsage | undefined {
    if (this.#processes) {
      const pid = processPath.exec(path)?.[1]
      return pid === undefined ? undefined : this.#processes.read(Number(pid), this.#now())
    }
    if (!existsSync(this.#fileOf(this.#isV2 ? '' : 'memory', path, ''))) return undefined
    const read = (controller: string, name: string): string => textOf(this.#fileOf(controller, path, name))
    return this.#isV2 ? usageV2(read, this.#now()) : usageV1(read, this.#now())
  }

  /** The cgroup of a process; undefined if there is no such process. */
  pathOf(pid: number): string | undefined {
    if (this.#processes) return existsSync(join(this.#proc, String(pid))) ? `/processes/${pid}` : undefined
    const lines = textOf(join(this.#proc, String(pid), 'cgroup')).split('\n')
    for (const line of lines) {
      const [, controllers = '', ...path] = line.split(':')
      const isIt = this.#isV2 ? line.startsWith('0::') : controllers.split(',').includes('memory')
      if (isIt) return path.join(':')
    }
    return undefined
  }

  #fileOf(controller: string, path: string, name: string): string {
    return join(this.#root, controller, path, name)
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
