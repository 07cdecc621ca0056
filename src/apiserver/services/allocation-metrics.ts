/** Metrics of cluster IPs and node ports, with upstream's names. */
import { defaultBuckets } from '../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** `static` if the client requests a specific address or port. */
export type AllocationScope = 'static' | 'dynamic'

export interface AllocationMetrics {
  /** Observes an allocation of an address from a range. */
  address(cidr: string, scope: AllocationScope, found: boolean, seconds: number): void
  port(scope: AllocationScope, found: boolean): void
}

/** The current numbers of allocated and available addresses and ports. */
export interface AllocationState {
  ranges(): Iterable<{ readonly cidr: string; readonly allocated: number; readonly available: number }>
  ports(): { readonly allocated: number; readonly available: number }
}

export function allocationMetrics(metrics: MetricsRegistry, state: AllocationState): AllocationMetrics {
  const ip = 'kube_apiserver_clusterip_allocator'
  const port = 'kube_apiserver_nodeport_allocator'
  metrics.gauge(`${ip}_allocated_ips`, 'Gauge measuring the number of allocated IPs for Services', ['cidr'], () =>
    [...state.ranges()].map(({ cidr, allocated }) => [[cidr], allocated] as const),
  )
  metrics.gauge(`${ip}_available_ips`, 'Gauge measuring the number of available IPs for Services', ['cidr'], () =>
    [...state.ranges()].map(({ cidr, available }) => [[cidr], available] as const),
  )
  metrics.gauge(`${port}_allocated_ports`, 'Gauge measuring the number of allocated NodePorts for Services', [], () => [
    [[], state.ports().allocated],
  ])
  metrics.gauge(`${port}_available_ports`, 'Gauge measuring the number of available NodePorts for Services', [], () => [
    [[], state.ports().available],
  ])
  const addresses = metrics.counter(`${ip}_allocation_total`, 'Number of Cluster IPs allocations', ['cidr', 'scope'])
  const failures = metrics.counter(`${ip}_allocation_errors_total`, 'Number of errors trying to allocate Cluster IPs', [
    'cidr',
    'scope',
  ])
  const times = metrics.histogram(
    `${ip}_allocation_duration_seconds`,
    'Duration in seconds to allocate a Cluster IP by ServiceCIDR',
    defaultBuckets,
    ['cidr'],
  )
  const ports = metrics.counter(`${port}_allocation_total`, 'Number of NodePort allocations', ['scope'])
  const portFailures = metrics.counter(
    `${port}_allocation_errors_total`,
    'Number of errors trying to allocate NodePort',
    ['scope'],
  )
  return {
    address(cidr, scope, found, seconds) {
      if (found) times([cidr]).observe(seconds)
      ;(found ? addresses : failures)([cidr, scope]).add()
    },
    port: (scope, found) => (found ? ports : portFailures)([scope]).add(),
  }
}
