/** Metrics of an agent of network policies. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

const seconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5] as const

/** Numbers of policies. */
interface PolicyCounts {
  readonly policies: () => number
  /** Of administrators. */
  readonly adminPolicies: () => number
}

export class PolicyMetrics {
  readonly #durations
  readonly #failures
  #syncedAtMs = 0

  constructor(registry: MetricsRegistry, { policies, adminPolicies }: PolicyCounts) {
    this.#durations = registry.histogram(
      't8s_network_policy_sync_duration_seconds',
      'Time to bring changes of network policies into effect.',
      seconds,
    )([])
    this.#failures = registry.counter(
      't8s_network_policy_sync_failures_total',
      'Attempts to bring changes of network policies into effect that failed.',
    )([])
    registry.gauge('t8s_network_policy_policies', 'Network policies that are in effect on this node.', [], () => [
      [[], policies()],
    ])
    registry.gauge(
      't8s_network_policy_admin_policies',
      'Policies of administrators for the whole cluster: AdminNetworkPolicies and kinds like them.',
      [],
      () => [[[], adminPolicies()]],
    )
    registry.gauge(
      't8s_network_policy_sync_last_timestamp_seconds',
      'Time at which changes of network policies were last brought into effect.',
      [],
      () => [[[], this.#syncedAtMs / 1000]],
    )
  }

  synced(atMs: number, durationMs: number): void {
    this.#syncedAtMs = atMs
    this.#durations.observe(durationMs / 1000)
  }

  failed(): void {
    this.#failures.add()
  }
}
