/** The metric of leadership, under client-go's name. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** Registers the gauge for the lease `name`; call it once per registry. */
export function leaderMetrics(registry: MetricsRegistry, name: string, isLeader: () => boolean): void {
  registry.gauge(
    'leader_election_master_status',
    'Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. ' +
      "'name' is the string used to identify the lease. Please make sure to group by name.",
    ['name'],
    () => [[[name], isLeader() ? 1 : 0]],
  )
}
