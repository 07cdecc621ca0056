/**
 * `/metrics/cadvisor`: metrics of cgroups under cAdvisor's names and labels, which dashboards use. The rows are the
 * root, the cgroups of all pods, of each pod (no `container` label) and of each container.
 */
import type { CgroupUsage } from '../../../node/cgroups/cgroup-usage.ts'
import type { InterfaceUsage } from '../usage/node-usage.ts'
import type { UsageSnapshot } from '../usage/usage-snapshot.ts'
import { type MetricRow, metricText } from './metric-text.ts'

interface Labels extends Readonly<Record<string, string>> {
  readonly container: string
  readonly id: string
  readonly image: string
  readonly name: string
  readonly namespace: string
  readonly pod: string
}

/** A cgroup with its labels. */
interface Subject {
  readonly labels: Labels
  readonly usage: CgroupUsage
  /** In s since 1970; 0 if it is unknown. */
  readonly startedAt: number
  readonly writableBytes: number | undefined
}

interface CgroupMetric {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  /** Labels besides those of the subject. */
  readonly labels?: Readonly<Record<string, string>>
  /** Undefined if the subject does not have the metric. */
  readonly value: (subject: Subject) => number | undefined
}

const seconds = (ns: number): number => ns / 1e9

const cpuMetrics: readonly CgroupMetric[] = [
  {
    name: 'container_cpu_cfs_periods_total',
    type: 'counter',
    help: 'Number of elapsed enforcement period intervals.',
    value: ({ usage: { cpu } }) => limited(cpu.quota, cpu.periods),
  },
  {
    name: 'container_cpu_cfs_throttled_periods_total',
    type: 'counter',
    help: 'Number of throttled period intervals.',
    value: ({ usage: { cpu } }) => limited(cpu.quota, cpu.throttledPeriods),
  },
  {
    name: 'container_cpu_cfs_throttled_seconds_total',
    type: 'counter',
    help: 'Total time duration the container has been throttled.',
    value: ({ usage: { cpu } }) => limited(cpu.quota, seconds(cpu.throttledTime)),
  },
  {
    name: 'container_cpu_system_seconds_total',
    type: 'counter',
    help: 'Cumulative system cpu time consumed in seconds.',
    value: ({ usage }) => seconds(usage.cpu.system),
  },
  {
    name: 'container_cpu_usage_seconds_total',
    type: 'counter',
    help: 'Cumulative cpu time consumed in seconds.',
    labels: { cpu: 'total' },
    value: ({ usage }) => seconds(usage.cpu.usage),
  },
  {
    name: 'container_cpu_user_seconds_total',
    type: 'counter',
    help: 'Cumulative user cpu time consumed in seconds.',
    value: ({ usage }) => seconds(usage.cpu.user),
  },
]

/** Throttling exists only with a limit. */
const limited = (quota: number | undefined, value: number): number | undefined =>
  quota === undefined ? undefined : value

const memoryGauge = (name: string, help: string, value: CgroupMetric['value']): CgroupMetric => ({
  name: `container_memory_${name}`,
  type: 'gauge',
  help,
  value,
})

const memoryFailures = (type: string, value: CgroupMetric['value']): CgroupMetric => ({
  name: 'container_memory_failures_total',
  type: 'counter',
  help: 'Cumulative count of memory allocation failures.',
  labels: { failure_type: type, scope: 'hierarchy' },
  value,
})

const memoryMetrics: readonly CgroupMetric[] = [
  memoryGauge('cache', 'Number of bytes of page cache memory.', ({ usage }) => usage.memory.cache),
  {
    name: 'container_memory_failcnt',
    type: 'counter',
    help: 'Number of memory usage hits limits',
    value: ({ usage }) => usage.memory.failures,
  },
  memoryFailures('pgfault', ({ usage }) => usage.memory.pageFaults),
  memoryFailures('pgmajfault', ({ usage }) => usage.memory.majorPageFaults),
  memoryGauge('mapped_file', 'Size of memory mapped files in bytes.', ({ usage }) => usage.memory.mappedFile),
  memoryGauge('max_usage_bytes', 'Maximum memory usage recorded in bytes', ({ usage }) => usage.memory.maxUsage),
  memoryGauge('rss', 'Size of RSS in bytes.', ({ usage }) => usage.memory.rss),
  memoryGauge('swap', 'Container swap usage in bytes.', ({ usage }) => usage.memory.swap),
  memoryGauge(
    'usage_bytes',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
    ({ usage }) => usage.memory.usage,
  ),
  memoryGauge('working_set_bytes', 'Current working set in bytes.', ({ usage }) => usage.memory.workingSet),
  {
    name: 'container_oom_events_total',
    type: 'counter',
    help: 'Count of out of memory events observed for the container',
    value: ({ usage }) => usage.memory.oomKills,
  },
]

const otherMetrics: readonly CgroupMetric[] = [
  {
    name: 'container_fs_reads_bytes_total',
    type: 'counter',
    help: 'Cumulative count of bytes read',
    labels: { device: '' },
    value: ({ usage }) => usage.io.readBytes,
  },
  {
    name: 'container_fs_reads_total',
    type: 'counter',
    help: 'Cumulative count of reads completed',
    labels: { device: '' },
    value: ({ usage }) => usage.io.reads,
  },
  {
    name: 'container_fs_usage_bytes',
    type: 'gauge',
    help: 'Number of bytes that are consumed by the container on this filesystem.',
    labels: { device: '' },
    value: ({ writableBytes }) => writableBytes,
  },
  {
    name: 'container_fs_writes_bytes_total',
    type: 'counter',
    help: 'Cumulative count of bytes written',
    labels: { device: '' },
    value: ({ usage }) => usage.io.writtenBytes,
  },
  {
    name: 'container_fs_writes_total',
    type: 'counter',
    help: 'Cumulative count of writes completed',
    labels: { device: '' },
    value: ({ usage }) => usage.io.writes,
  },
  {
    name: 'container_last_seen',
    type: 'gauge',
    help: 'Last time a container was seen by the exporter',
    value: ({ usage }) => Math.floor(usage.time / 1000),
  },
  {
    name: 'container_processes',
    type: 'gauge',
    help: 'Number of processes running inside the container.',
    value: ({ usage }) => usage.processes,
  },
  {
    name: 'container_spec_cpu_period',
    type: 'gauge',
    help: 'CPU period of the container.',
    value: ({ usage }) => usage.cpu.period,
  },
  {
    name: 'container_spec_cpu_quota',
    type: 'gauge',
    help: 'CPU quota of the container.',
    value: ({ usage }) => usage.cpu.quota,
  },
  {
    name: 'container_spec_cpu_shares',
    type: 'gauge',
    help: 'CPU share of the container.',
    value: ({ usage }) => usage.cpu.shares,
  },
  {
    name: 'container_spec_memory_limit_bytes',
    type: 'gauge',
    help: 'Memory limit for the container.',
    value: ({ usage }) => usage.memory.limit ?? 0,
  },
  {
    name: 'container_start_time_seconds',
    type: 'gauge',
    help: 'Start time of the container since unix epoch in seconds.',
    value: ({ startedAt }) => (startedAt > 0 ? startedAt : undefined),
  },
]

type InterfaceNumber = Exclude<keyof InterfaceUsage, 'name'>

const networkMetrics: readonly [suffix: string, help: string, key: InterfaceNumber][] = [
  ['receive_bytes_total', 'Cumulative count of bytes received', 'rxBytes'],
  ['receive_errors_total', 'Cumulative count of errors encountered while receiving', 'rxErrors'],
  ['receive_packets_dropped_total', 'Cumulative count of packets dropped while receiving', 'rxDropped'],
  ['receive_packets_total', 'Cumulative count of packets received', 'rxPackets'],
  ['transmit_bytes_total', 'Cumulative count of bytes transmitted', 'txBytes'],
  ['transmit_errors_total', 'Cumulative count of errors encountered while transmitting', 'txErrors'],
  ['transmit_packets_dropped_total', 'Cumulative count of packets dropped while transmitting', 'txDropped'],
  ['transmit_packets_total', 'Cumulative count of packets transmitted', 'txPackets'],
]

/** `root` is the usage of the root cgroup, if it can be read. */
export function cadvisorMetrics(snapshot: UsageSnapshot, root: CgroupUsage | undefined): string {
  const subjects = subjectsOf(snapshot, root)
  const families = Map.groupBy([...cpuMetrics, ...memoryMetrics, ...otherMetrics], ({ name }) => name)
  const texts = [...families.values()].map((metrics) => {
    const [{ name, type, help }] = metrics as [CgroupMetric]
    return metricText(
      name,
      type,
      help,
      metrics.flatMap((metric) => rowsOf(metric, subjects)),
    )
  })
  return [...texts, networkText(snapshot), machineText(snapshot)].join('')
}

const rowsOf = ({ labels: own, value: read }: CgroupMetric, subjects: readonly Subject[]): MetricRow[] =>
  subjects.flatMap((subject) => {
    const value = read(subject)
    return value === undefined ? [] : [{ labels: { ...subject.labels, ...own }, value, time: subject.usage.time }]
  })

const noPod = { container: '', image: '', name: '', namespace: '', pod: '' } as const

function subjectsOf({ node, system, pods }: UsageSnapshot, root: CgroupUsage | undefined): Subject[] {
  const withoutPod = (id: string, usage: CgroupUsage, startedAt = 0): Subject => ({
    labels: { ...noPod, id },
    usage,
    startedAt,
    writableBytes: undefined,
  })
  return [
    ...(root ? [withoutPod('/', root, node.bootTime / 1000)] : []),
    ...system.map(({ cgroup, usage }) => withoutPod(cgroup, usage)),
    ...pods.flatMap(({ identity: { name: pod, namespace }, cgroup, usage, startedAt, containers }) => [
      ...(usage
        ? [
            {
              labels: { ...noPod, id: cgroup, namespace, pod },
              usage,
              startedAt: startedAt / 1000,
              writableBytes: undefined,
            },
          ]
        : []),
      ...containers.flatMap((one): Subject[] =>
        one.usage
          ? [
              {
                labels: { container: one.name, id: one.cgroup, image: one.image, name: one.id, namespace, pod },
                usage: one.usage,
                startedAt: one.startedAt / 1000,
                writableBytes: one.writableLayer?.usedBytes,
              },
            ]
          : [],
      ),
    ]),
  ]
}

/** The interfaces of a pod are those of its sandbox. */
function networkText({ pods, interfaces, time }: UsageSnapshot): string {
  const owners = [
    { labels: { ...noPod, id: '/' }, interfaces },
    ...pods.flatMap(
      ({ identity: { name: pod, namespace }, sandbox: { id: name, image, cgroup: id }, interfaces: own }) =>
        own ? [{ labels: { container: '', id, image, name, namespace, pod }, interfaces: own }] : [],
    ),
  ]
  return networkMetrics
    .map(([suffix, help, key]) => {
      const rows = owners.flatMap((owner) =>
        owner.interfaces.map((one) => ({ labels: { ...owner.labels, interface: one.name }, value: one[key], time })),
      )
      return metricText(`container_network_${suffix}`, 'counter', help, rows)
    })
    .join('')
}

function machineText({ node, hasFailed }: UsageSnapshot): string {
  const own = (value: number): MetricRow[] => [{ labels: {}, value }]
  return [
    metricText(
      'container_scrape_error',
      'gauge',
      '1 if there was an error while getting container metrics, 0 otherwise',
      own(hasFailed ? 1 : 0),
    ),
    metricText('machine_cpu_cores', 'gauge', 'Number of logical CPU cores.', own(node.processors)),
    metricText(
      'machine_memory_bytes',
      'gauge',
      'Amount of memory installed on the machine.',
      own(node.memory.capacity),
    ),
    metricText(
      'machine_swap_bytes',
      'gauge',
      'Amount of swap memory available on the machine.',
      own(node.swap.capacity),
    ),
  ].join('')
}
