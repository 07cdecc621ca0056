/** The metrics of a controller manager, with upstream's names. Its controllers use the same registry. */
import { restClientMetrics } from '../../client/connection/request-metrics.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { processMetrics } from '../../lib/process/process-metrics.ts'
import { unhandledErrors } from '../../lib/process/unhandled-errors.ts'

const manager = 'kube-controller-manager'

/** `controllers` returns the names of the running controllers. */
export function managerMetrics(controllers: () => readonly string[]) {
  const registry = new MetricsRegistry()
  processMetrics(registry)
  registry.externalCounter(
    'controller_manager_unhandled_errors_total',
    'Errors that no code of this process handled: each is logged with its stack.',
    [],
    () => [[[], unhandledErrors()]],
  )
  registry.gauge(
    'running_managed_controllers',
    'Indicates where instances of a controller are currently running',
    ['manager', 'name'],
    () => controllers().map((name) => [[manager, name], 1] as const),
  )
  return { registry, requests: restClientMetrics(registry) }
}
