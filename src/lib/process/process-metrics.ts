/** The process metrics of Prometheus' client libraries. */
import { readdirSync } from 'node:fs'
import type { MetricsRegistry } from '../metrics/registry.ts'

export function processMetrics(metrics: MetricsRegistry): void {
  const started = Date.now() / 1000 - process.uptime()
  metrics.gauge('process_start_time_seconds', 'Start time of the process since the epoch, in seconds.', [], () => [
    [[], started],
  ])
  metrics.gauge('process_resident_memory_bytes', 'Resident memory in bytes.', [], () => [
    [[], process.memoryUsage.rss()],
  ])
  metrics.gauge('process_cpu_seconds_total', 'User and system CPU time in seconds.', [], () => {
    const { user, system } = process.cpuUsage()
    return [[[], (user + system) / 1e6]]
  })
  metrics.gauge('process_open_fds', 'File descriptors that are open.', [], openFiles)
  metrics.gauge('nodejs_heap_size_used_bytes', 'Bytes of the JavaScript heap in use.', [], () => [
    [[], process.memoryUsage().heapUsed],
  ])
}

/** Only available on Linux. */
function openFiles(): [[], number][] {
  if (process.platform !== 'linux') return []
  return [[[], readdirSync('/proc/self/fd').length]]
}
