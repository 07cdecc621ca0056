/** Metrics of unavailable pods of StatefulSets (`statefulset_controller_*`), computed when scraped. */
import type { StatefulSet } from '../../client/kinds.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { maxUnavailable } from './decisions/update.ts'
import { replicasOf } from './identity.ts'

/** Registers gauges of the sets that `all` returns. */
export function setMetrics(
  registry: MetricsRegistry,
  all: () => Iterable<StatefulSet>,
  usesMaxUnavailable: boolean,
): void {
  const gauge = (name: string, help: string, value: (set: StatefulSet) => number): void =>
    registry.gauge(
      `statefulset_controller_statefulset_${name}`,
      help,
      ['statefulset_namespace', 'statefulset_name', 'pod_management_policy'],
      () =>
        [...all()]
          .filter(({ spec }) => spec?.updateStrategy?.type !== 'OnDelete')
          .map((set) => [
            [set.metadata.namespace ?? '', set.metadata.name ?? '', set.spec?.podManagementPolicy ?? ''],
            value(set),
          ]),
    )
  gauge('max_unavailable', 'Maximum number of unavailable pods allowed during StatefulSet rolling updates', (set) =>
    usesMaxUnavailable ? maxUnavailable(set) : 1,
  )
  gauge('unavailable_replicas', 'Current number of unavailable pods in StatefulSet', (set) =>
    Math.max(0, replicasOf(set) - (set.status?.availableReplicas ?? 0)),
  )
}
