/** Usage of a cgroup v1, whose controllers have hierarchies of their own. */
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

/** A tick of `cpuacct.stat` in ns: the kernel counts 100 in a second for programs. */
const tickNs = 10_000_000
/** Larger limits mean none: the kernel's own is the largest number of pages. */
const noLimit = 2 ** 62

export function usageV1(read: ReadCgroupFile, time: number): CgroupUsage {
  return {
    time,
    cpu: cpuUsage(read),
    memory: memoryUsage(read),
    processes: numberIn(read('pids', 'pids.current')),
    maxProcesses: numberIn(read('pids', 'pids.max')),
    io: ioUsage(read),
  }
}

function cpuUsage(read: ReadCgroupFile): CpuUsage {
  const ticks = fieldsIn(read('cpuacct', 'cpuacct.stat'))
  const throttling = fieldsIn(read('cpu', 'cpu.stat'))
  return {
    usage: numberIn(read('cpuacct', 'cpuacct.usage')) ?? 0,
    user: ticks('user') * tickNs,
    system: ticks('system') * tickNs,
    periods: throttling('nr_periods'),
    throttledPeriods: throttling('nr_throttled'),
    throttledTime: throttling('throttled_time'),
    shares: numberIn(read('cpu', 'cpu.shares')),
    // Without a limit the quota is -1, which is no number here.
    quota: numberIn(read('cpu', 'cpu.cfs_quota_us')),
    period: numberIn(read('cpu', 'cpu.cfs_period_us')),
  }
}

function memoryUsage(read: ReadCgroupFile): MemoryUsage {
  const stat = fieldsIn(read('memory', 'memory.stat'))
  const usage = numberIn(read('memory', 'memory.usage_in_bytes')) ?? 0
  const limitIn = (name: string): number | undefined => {
    const limit = numberIn(read('memory', name))
    return limit === undefined || limit >= noLimit ? undefined : limit
  }
  return {
    usage,
    workingSet: workingSetOf(usage, stat('total_inactive_file')),
    rss: stat('total_rss'),
    cache: stat('total_cache'),
    mappedFile: stat('total_mapped_file'),
    swap: stat('total_swap'),
    pageFaults: stat('total_pgfault'),
    majorPageFaults: stat('total_pgmajfault'),
    limit: limitIn('memory.limit_in_bytes'),
    swapLimit: limitIn('memory.memsw.limit_in_bytes'),
    reservation: limitIn('memory.soft_limit_in_bytes'),
    kernel: numberIn(read('memory', 'memory.kmem.usage_in_bytes')) ?? 0,
    maxUsage: numberIn(read('memory', 'memory.max_usage_in_bytes')),
    failures: numberIn(read('memory', 'memory.failcnt')) ?? 0,
    oomKills: fieldsIn(read('memory', 'memory.oom_control'))('oom_kill'),
  }
}

function ioUsage(read: ReadCgroupFile): IoUsage {
  const bytes = sumsOf(read('blkio', 'blkio.throttle.io_service_bytes'))
  const operations = sumsOf(read('blkio', 'blkio.throttle.io_serviced'))
  return {
    readBytes: bytes('Read'),
    writtenBytes: bytes('Write'),
    reads: operations('Read'),
    writes: operations('Write'),
  }
}

/** Sums of lines `MAJOR:MINOR OPERATION VALUE` by operation. */
function sumsOf(text: string): (operation: string) => number {
  const entries = text.split('\n').map((line) => line.split(' '))
  return (operation) => entries.reduce((sum, [, name, value]) => (name === operation ? sum + Number(value) : sum), 0)
}
