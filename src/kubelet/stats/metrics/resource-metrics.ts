/** `/metrics/resource`: CPU, memory and swap of the node, its pods and containers. */

import type { UsageSnapshot } from '../usage/usage-snapshot.ts'
import { type MetricRow, metricText } from './metric-text.ts'

const seconds = (ns: number): number => ns / 1e9

const swapHelp = (subject: string): string =>
  `[ALPHA] Current amount of the ${subject} swap usage in bytes. Reported only on non-windows systems`

export function resourceMetrics(snapshot: UsageSnapshot): string {
  const { node, time, hasFailed } = snapshot
  const containers = containerRows(snapshot)
  const pods = podRows(snapshot)
  const own = (value: number): MetricRow[] => [{ labels: {}, value, time }]
  return [
    metricText(
      'container_cpu_usage_seconds_total',
      'counter',
      '[STABLE] Cumulative cpu time consumed by the container in core-seconds',
      containers.cpu,
    ),
    metricText(
      'container_memory_working_set_bytes',
      'gauge',
      '[STABLE] Current working set of the container in bytes',
      containers.memory,
    ),
    metricText(
      'container_start_time_seconds',
      'gauge',
      '[STABLE] Start time of the container since unix epoch in seconds',
      containers.start,
    ),
    metricText('container_swap_usage_bytes', 'gauge', swapHelp('container'), containers.swap),
    metricText(
      'node_cpu_usage_seconds_total',
      'counter',
      '[STABLE] Cumulative cpu time consumed by the node in core-seconds',
      own(seconds(node.cpuUsage)),
    ),
    metricText(
      'node_memory_working_set_bytes',
      'gauge',
      '[STABLE] Current working set of the node in bytes',
      own(node.memory.workingSet),
    ),
    metricText('node_swap_usage_bytes', 'gauge', swapHelp('node'), own(node.swap.usage)),
    metricText(
      'pod_cpu_usage_seconds_total',
      'counter',
      '[STABLE] Cumulative cpu time consumed by the pod in core-seconds',
      pods.cpu,
    ),
    metricText(
      'pod_memory_working_set_bytes',
      'gauge',
      '[STABLE] Current working set of the pod in bytes',
      pods.memory,
    ),
    metricText('pod_swap_usage_bytes', 'gauge', swapHelp('pod'), pods.swap),
    metricText(
      'resource_scrape_error',
      'gauge',
      '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise',
      [{ labels: {}, value: hasFailed ? 1 : 0 }],
    ),
  ].join('')
}

function containerRows({ pods }: UsageSnapshot) {
  const all = pods.flatMap(({ identity: { name, namespace }, containers }) =>
    containers.flatMap((container) =>
      container.usage
        ? [{ labels: { container: container.name, namespace, pod: name }, usage: container.usage, container }]
        : [],
    ),
  )
  return {
    cpu: all.map(({ labels, usage }) => ({ labels, value: seconds(usage.cpu.usage), time: usage.time })),
    memory: all.map(({ labels, usage }) => ({ labels, value: usage.memory.workingSet, time: usage.time })),
    swap: all.map(({ labels, usage }) => ({ labels, value: usage.memory.swap, time: usage.time })),
    start: all.map(({ labels, container }) => ({ labels, value: container.startedAt / 1000 })),
  }
}

function podRows({ pods }: UsageSnapshot) {
  const all = pods.flatMap(({ identity: { name, namespace }, usage }) =>
    usage ? [{ labels: { namespace, pod: name }, usage }] : [],
  )
  return {
    cpu: all.map(({ labels, usage }) => ({ labels, value: seconds(usage.cpu.usage), time: usage.time })),
    memory: all.map(({ labels, usage }) => ({ labels, value: usage.memory.workingSet, time: usage.time })),
    swap: all.map(({ labels, usage }) => ({ labels, value: usage.memory.swap, time: usage.time })),
  }
}
