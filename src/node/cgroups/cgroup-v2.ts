/** Usage of a cgroup v2. */
import {
  type CgroupUsage,
  type CpuUsage,
  fieldsIn,
  type IoUsage,
  type MemoryUsage,
  numberIn,
  type ReadCgroupFile,
  workingSetOf,
} from './cgroup-usage.ts'

const nsPerUs = 1_000

export function usageV2(read: ReadCgroupFile, time: number): CgroupUsage {
  return {
    time,
    cpu: cpuUsage(read),
    memory: memoryUsage(read),
    processes: numberIn(read('', 'pids.current')),
    maxProcesses: numberIn(read('', 'pids.max')),
    io: ioUsage(read('', 'io.stat')),
  }
}

function cpuUsage(read: ReadCgroupFile): CpuUsage {
  const stat = fieldsIn(read('', 'cpu.stat'))
  const [quota = '', period = ''] = read('', 'cpu.max').trim().split(' ')
  return {
    usage: stat('usage_usec') * nsPerUs,
    user: stat('user_usec') * nsPerUs,
    system: stat('system_usec') * nsPerUs,
    periods: stat('nr_periods'),
    throttledPeriods: stat('nr_throttled'),
    throttledTime: stat('throttled_usec') * nsPerUs,
    shares: sharesOf(numberIn(read('', 'cpu.weight'))),
    quota: numberIn(quota),
    period: numberIn(period),
  }
}

/** The shares of cgroup v1 for a weight of 1 to 10000, as runtimes convert them the other way. */
const sharesOf = (weight: number | undefined): number | undefined =>
  weight === undefined ? undefined : Math.floor(2 + ((weight - 1) * 262_142) / 9_999)

function memoryUsage(read: ReadCgroupFile): MemoryUsage {
  const stat = fieldsIn(read('', 'memory.stat'))
  const events = fieldsIn(read('', 'memory.events'))
  // The root has no `memory.current`.
  const usage = numberIn(read('', 'memory.current')) ?? stat('anon') + stat('file')
  return {
    usage,
    workingSet: workingSetOf(usage, stat('inactive_file')),
    rss: stat('anon'),
    cache: stat('file'),
    mappedFile: stat('file_mapped'),
    swap: numberIn(read('', 'memory.swap.current')) ?? 0,
    pageFaults: stat('pgfault'),
    majorPageFaults: stat('pgmajfault'),
    limit: numberIn(read('', 'memory.max')),
    swapLimit: numberIn(read('', 'memory.swap.max')),
    reservation: numberIn(read('', 'memory.min')),
    kernel: stat('kernel'),
    maxUsage: numberIn(read('', 'memory.peak')),
    failures: events('max'),
    oomKills: events('oom_kill'),
  }
}

/** Sums of lines `MAJOR:MINOR rbytes=N wbytes=N rios=N wios=N …`. */
function ioUsage(text: string): IoUsage {
  const sum = (key: string): number =>
    [...text.matchAll(new RegExp(`\\b${key}=(\\d+)`, 'g'))].reduce((total, [, value]) => total + Number(value), 0)
  return { readBytes: sum('rbytes'), writtenBytes: sum('wbytes'), reads: sum('rios'), writes: sum('wios') }
}
