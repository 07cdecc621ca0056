/** Which features of Kubernetes are on, and how far they have come, by upstream's name. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { knownGates } from '../serving-flags/feature-gates/gates.ts'

/** Features are as a 1.36 has them without `--feature-gates`: the flag changes nothing here. */
export function featureMetrics(metrics: MetricsRegistry): void {
  metrics.gauge('kubernetes_feature_enabled', 'This metric records the data about the stage and enablement of a k8s feature.', ['name', 'stage'], () =>
    [...knownGates].map(([name, { stage, isOn }]) => [[name, stage], isOn ? 1 : 0] as const),
  )
}
