/** Metrics of pods and containers through CRI, with cAdvisor's names. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ContainerStatsSchema, PodSandboxStatsSchema } from '#protobuf/cri-stats_pb.js'
import { type MetricDescriptorSchema, type MetricSchema, MetricType } from '#protobuf/cri-stats_pb.js'

type ContainerStats = MessageInitShape<typeof ContainerStatsSchema>
type PodStats = MessageInitShape<typeof PodSandboxStatsSchema>
type Metric = MessageInitShape<typeof MetricSchema>
type Value = { readonly value?: bigint } | undefined

interface Definition<Stats> {
  readonly name: string
  readonly help: string
  readonly type: MetricType
  readonly read: (stats: Stats) => Value
}

/** The label values of a metric are in this order. */
const labels = ['id', 'name', 'container', 'image']

const containerDefinitions: readonly Definition<ContainerStats>[] = [
  {
    name: 'container_cpu_usage_nanoseconds_total',
    help: 'Cumulative CPU time consumed in nanoseconds.',
    type: MetricType.COUNTER,
    read: ({ cpu }) => cpu?.usageCoreNanoSeconds,
  },
  {
    name: 'container_memory_usage_bytes',
    help: 'Current memory usage in bytes, including all memory regardless of when it was accessed.',
    type: MetricType.GAUGE,
    read: ({ memory }) => memory?.usageBytes,
  },
  {
    name: 'container_memory_working_set_bytes',
    help: 'Current working set in bytes.',
    type: MetricType.GAUGE,
    read: ({ memory }) => memory?.workingSetBytes,
  },
  {
    name: 'container_memory_rss',
    help: 'Size of RSS in bytes.',
    type: MetricType.GAUGE,
    read: ({ memory }) => memory?.rssBytes,
  },
  {
    name: 'container_memory_swap',
    help: 'Container swap usage in bytes.',
    type: MetricType.GAUGE,
    read: ({ swap }) => swap?.swapUsageBytes,
  },
  {
    name: 'container_fs_usage_bytes',
    help: 'Number of bytes that are consumed by the container on this filesystem.',
    type: MetricType.GAUGE,
    read: ({ writableLayer }) => writableLayer?.usedBytes,
  },
]

const podDefinitions: readonly Definition<PodStats>[] = [
  {
    name: 'container_network_receive_bytes_total',
    help: 'Cumulative count of bytes received.',
    type: MetricType.COUNTER,
    read: ({ linux }) => linux?.network?.defaultInterface?.rxBytes,
  },
  {
    name: 'container_network_transmit_bytes_total',
    help: 'Cumulative count of bytes transmitted.',
    type: MetricType.COUNTER,
    read: ({ linux }) => linux?.network?.defaultInterface?.txBytes,
  },
  {
    name: 'container_processes',
    help: 'Number of processes running inside the container.',
    type: MetricType.GAUGE,
    read: ({ linux }) => linux?.process?.processCount,
  },
]

export const metricDescriptors = (): MessageInitShape<typeof MetricDescriptorSchema>[] =>
  [...containerDefinitions, ...podDefinitions].map(({ name, help }) => ({ name, help, labelKeys: labels }))

export const podMetrics = (stats: PodStats): Metric[] =>
  metricsOf(podDefinitions, stats, [stats.attributes?.id ?? '', stats.attributes?.metadata?.name ?? '', '', ''])

export function containerMetrics(stats: ContainerStats, image: string): Metric[] {
  const { id = '', metadata } = stats.attributes ?? {}
  return metricsOf(containerDefinitions, stats, [id, metadata?.name ?? '', metadata?.name ?? '', image])
}

const metricsOf = <Stats>(
  definitions: readonly Definition<Stats>[],
  stats: Stats,
  labelValues: readonly string[],
): Metric[] =>
  definitions.flatMap(({ name, type, read }) => {
    const value = read(stats)
    if (value === undefined) return []
    const timestamp = BigInt(Date.now()) * 1_000_000n
    return [{ name, timestamp, metricType: type, labelValues: [...labelValues], value: { value: value.value ?? 0n } }]
  })
