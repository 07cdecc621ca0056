/** The metrics of a container: its cgroup, its processes and the file system of its changes. */
import { MetricType } from '#protobuf/cri-stats_pb.js'
import type { CgroupUsage } from '../../../node/cgroups/cgroup-usage.ts'
import { counter, gauge, labelled, type MetricDefinition } from './metric.ts'
import type { ProcessCounts } from './process-counts.ts'

export interface ContainerReading {
  readonly usage: CgroupUsage
  readonly processes: ProcessCounts
  /** In s since 1970. */
  readonly startedAt: number
  /** Bytes of the container's changes. */
  readonly changedBytes: number
  readonly fileSystem: { readonly bytes: number; readonly inodes: number; readonly freeInodes: number }
}

type Definition = MetricDefinition<ContainerReading>

const nsPerSecond = 1e9

const cpu: readonly Definition[] = [
  counter('cpu_cfs_periods', 'Number of elapsed enforcement period intervals.', ({ usage }) => usage.cpu.periods),
  counter(
    'cpu_cfs_throttled_periods',
    'Number of throttled period intervals.',
    ({ usage }) => usage.cpu.throttledPeriods,
  ),
  counter(
    'cpu_cfs_throttled_seconds',
    'Total time duration the container has been throttled.',
    ({ usage }) => usage.cpu.throttledTime / nsPerSecond,
  ),
  counter(
    'cpu_system_seconds',
    'Cumulative system cpu time consumed in seconds.',
    ({ usage }) => usage.cpu.system / nsPerSecond,
  ),
  labelled(
    counter('cpu_usage_seconds', 'Cumulative cpu time consumed in seconds.', () => undefined),
    ['cpu'],
    ({ usage }) => [[usage.cpu.usage / nsPerSecond, 'total']],
  ),
  counter(
    'cpu_user_seconds',
    'Cumulative user cpu time consumed in seconds.',
    ({ usage }) => usage.cpu.user / nsPerSecond,
  ),
]

const memory: readonly Definition[] = [
  gauge('memory_cache', 'Number of bytes of page cache memory.', ({ usage }) => usage.memory.cache),
  {
    ...gauge<ContainerReading>(
      'memory_failcnt',
      'Number of memory usage hits limits',
      ({ usage }) => usage.memory.failures,
    ),
    type: MetricType.COUNTER,
  },
  labelled(
    counter('memory_failures', 'Cumulative count of memory allocation failures.', () => undefined),
    ['failure_type', 'scope'],
    ({ usage }) => [
      [usage.memory.pageFaults, 'pgfault', 'hierarchy'],
      [usage.memory.majorPageFaults, 'pgmajfault', 'hierarchy'],
    ],
  ),
  gauge('memory_kernel_usage', 'Size of kernel memory allocated in bytes.', ({ usage }) => usage.memory.kernel),
  gauge('memory_mapped_file', 'Size of memory mapped files in bytes.', ({ usage }) => usage.memory.mappedFile),
  gauge('memory_max_usage_bytes', 'Maximum memory usage recorded in bytes', ({ usage }) => usage.memory.maxUsage),
  gauge('memory_rss', 'Size of RSS in bytes.', ({ usage }) => usage.memory.rss),
  gauge('memory_swap', 'Container swap usage in bytes.', ({ usage }) => usage.memory.swap),
  gauge(
    'memory_usage_bytes',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
    ({ usage }) => usage.memory.usage,
  ),
  gauge('memory_working_set_bytes', 'Current working set in bytes.', ({ usage }) => usage.memory.workingSet),
  counter(
    'oom_events',
    'Count of out of memory events observed for the container',
    ({ usage }) => usage.memory.oomKills,
  ),
]

/** The devices of a cgroup are counted together. */
const device = ''

const disk: readonly Definition[] = [
  labelled(
    counter('blkio_device_usage', 'Blkio Device bytes usage', () => undefined),
    ['device', 'major', 'minor', 'operation'],
    ({ usage }) => [
      [usage.io.readBytes, device, '', '', 'Read'],
      [usage.io.writtenBytes, device, '', '', 'Write'],
    ],
  ),
  ...(
    [
      [
        gauge('fs_inodes_free', 'Number of available Inodes', () => undefined),
        ({ fileSystem }) => fileSystem.freeInodes,
      ],
      [gauge('fs_inodes_total', 'Number of Inodes', () => undefined), ({ fileSystem }) => fileSystem.inodes],
      [
        gauge('fs_limit_bytes', 'Number of bytes that can be consumed by the container on this filesystem.', () => 0),
        ({ fileSystem }) => fileSystem.bytes,
      ],
      [counter('fs_reads_bytes', 'Cumulative count of bytes read', () => 0), ({ usage }) => usage.io.readBytes],
      [counter('fs_reads', 'Cumulative count of reads completed', () => 0), ({ usage }) => usage.io.reads],
      [
        gauge('fs_usage_bytes', 'Number of bytes that are consumed by the container on this filesystem.', () => 0),
        ({ changedBytes }) => changedBytes,
      ],
      [counter('fs_writes_bytes', 'Cumulative count of bytes written', () => 0), ({ usage }) => usage.io.writtenBytes],
      [counter('fs_writes', 'Cumulative count of writes completed', () => 0), ({ usage }) => usage.io.writes],
    ] satisfies readonly (readonly [Definition, (reading: ContainerReading) => number])[]
  ).map(([definition, read]) => labelled<ContainerReading>(definition, ['device'], (one) => [[read(one), device]])),
]

const processes: readonly Definition[] = [
  gauge('file_descriptors', 'Number of open file descriptors for the container.', (one) => one.processes.files),
  gauge('processes', 'Number of processes running inside the container.', ({ usage }) => usage.processes),
  gauge('sockets', 'Number of open sockets for the container.', (one) => one.processes.sockets),
  gauge('threads', 'Number of threads running inside the container', (one) => one.processes.threads),
  gauge(
    'threads_max',
    'Maximum number of threads allowed inside the container, infinity if value is zero',
    ({ usage }) => usage.maxProcesses ?? 0,
  ),
  labelled(
    gauge('ulimits_soft', 'Soft ulimit values for the container root process.', () => undefined),
    ['ulimit'],
    ({ processes: { maxFiles } }) => (maxFiles === undefined ? [] : [[maxFiles, 'max_open_files']]),
  ),
]

const limits: readonly Definition[] = [
  gauge('last_seen', 'Last time a container was seen by the exporter', ({ usage }) => usage.time / 1000),
  gauge('spec_cpu_period', 'CPU period of the container.', ({ usage }) => usage.cpu.period),
  gauge('spec_cpu_quota', 'CPU quota of the container.', ({ usage }) => usage.cpu.quota),
  gauge('spec_cpu_shares', 'CPU share of the container.', ({ usage }) => usage.cpu.shares),
  gauge('spec_memory_limit_bytes', 'Memory limit for the container.', ({ usage }) => usage.memory.limit ?? 0),
  gauge(
    'spec_memory_reservation_limit_bytes',
    'Memory reservation limit for the container.',
    ({ usage }) => usage.memory.reservation ?? 0,
  ),
  gauge(
    'spec_memory_swap_limit_bytes',
    'Memory swap limit for the container.',
    ({ usage }) => usage.memory.swapLimit ?? 0,
  ),
  gauge('start_time_seconds', 'Start time of the container since unix epoch in seconds.', ({ startedAt }) => startedAt),
]

export const containerDefinitions: readonly Definition[] = [...cpu, ...memory, ...disk, ...processes, ...limits]
