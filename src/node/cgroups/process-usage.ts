/** Usage of containers where there are no cgroups: that of all processes in the PID namespace of the first one. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type CgroupUsage, fieldsIn } from './cgroup-usage.ts'

/** The kernel's unit of CPU time in `/proc`, in ns. */
const tickNs = 10_000_000
const bytesPerKiB = 1024
/** Positions after the name of the program in `/proc/PID/stat`. */
const stat = { minorFaults: 7, majorFaults: 9, user: 11, system: 12, childrenUser: 13, childrenSystem: 14 } as const

export class ProcessUsage {
  readonly #proc: string

  /** `proc` is `/proc`. */
  constructor(proc: string) {
    this.#proc = proc
  }

  /**
   * The usage at a time in ms since 1970; undefined if there is no such process. A process in the namespace of this one
   * counts alone. Processes that have ended count with the parent that has read their exit codes.
   */
  read(pid: number, time: number): CgroupUsage | undefined {
    const namespace = this.#namespaceOf(pid)
    if (namespace === undefined) return undefined
    const pids = namespace === this.#namespaceOf('self') ? [String(pid)] : this.#processesIn(namespace)
    const readings = pids.flatMap((one) => this.#readingOf(one) ?? [])
    const sum = (key: keyof Reading): number => readings.reduce((total, reading) => total + reading[key], 0)
    const [user, system, rss, file] = [sum('user'), sum('system'), sum('rss'), sum('file')]
    return {
      time,
      cpu: { ...noLimits, usage: user + system, user, system },
      memory: {
        ...noMemoryLimits,
        usage: rss + file,
        workingSet: rss,
        rss,
        cache: file,
        mappedFile: file,
        swap: sum('swap'),
        pageFaults: sum('faults'),
        majorPageFaults: sum('majorFaults'),
      },
      processes: readings.length,
      maxProcesses: undefined,
      io: { readBytes: 0, writtenBytes: 0, reads: 0, writes: 0 },
    }
  }

  #processesIn(namespace: string): string[] {
    return readdirSync(this.#proc).filter((name) => /^\d+$/.test(name) && this.#namespaceOf(name) === namespace)
  }

  #namespaceOf(pid: number | string): string | undefined {
    try {
      return readlinkSync(join(this.#proc, String(pid), 'ns/pid'))
    } catch {
      return undefined
    }
  }

  #readingOf(pid: string): Reading | undefined {
    try {
      const text = readFileSync(join(this.#proc, pid, 'stat'), 'utf8')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      const at = (position: number): number => Number(fields[position])
      const status = fieldsIn(readFileSync(join(this.#proc, pid, 'status'), 'utf8').replace(/:\s+/g, ' '))
      return {
        user: (at(stat.user) + at(stat.childrenUser)) * tickNs,
        system: (at(stat.system) + at(stat.childrenSystem)) * tickNs,
        rss: (status('RssAnon') + status('RssShmem')) * bytesPerKiB,
        file: status('RssFile') * bytesPerKiB,
        swap: status('VmSwap') * bytesPerKiB,
        faults: at(stat.minorFaults) + at(stat.majorFaults),
        majorFaults: at(stat.majorFaults),
      }
    } catch {
      // It has ended meanwhile.
      return undefined
    }
  }
}

interface Reading {
  /** In ns. */
  readonly user: number
  readonly system: number
  /** In bytes. */
  readonly rss: number
  readonly file: number
  readonly swap: number
  readonly faults: number
  readonly majorFaults: number
}

const noLimits = {
  periods: 0,
  throttledPeriods: 0,
  throttledTime: 0,
  shares: undefined,
  quota: undefined,
  period: undefined,
} as const

const noMemoryLimits = {
  limit: undefined,
  swapLimit: undefined,
  reservation: undefined,
  kernel: 0,
  maxUsage: undefined,
  failures: 0,
  oomKills: 0,
} as const
