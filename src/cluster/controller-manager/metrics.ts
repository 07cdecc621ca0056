/** Metrics of a controller manager, under upstream's names. */
import { processMetrics } from '../../apiserver/metrics/process-metrics.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** What is told when metrics are read. */
export interface ManagerState {
  readonly controllers: () => readonly string[]
  /** The lease, and whether it is held; undefined where nobody is elected. */
  readonly election?: { readonly name: string; readonly isLeader: () => boolean }
}

const manager = 'kube-controller-manager'

/** What is told of the manager itself; its controllers count in the same registry. */
export function managerMetrics({ controllers, election }: ManagerState): MetricsRegistry {
  const registry = new MetricsRegistry()
  processMetrics(registry)
  registry.gauge('running_managed_controllers', 'Indicates where instances of a controller are currently running', ['manager', 'name'], () =>
    controllers().map((name) => [[manager, name], 1] as const),
  )
  if (election) {
    registry.gauge(
      'leader_election_master_status',
      "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
      ['name'],
      () => [[[election.name], election.isLeader() ? 1 : 0]],
    )
  }
  return registry
}
