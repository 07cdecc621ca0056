/** Metrics of the enabled features and their stages, with upstream's name. */

import type { FeatureGates } from '../../api/features/feature-gates.ts'
import { knownGates } from '../../api/features/gates.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

export function featureMetrics(metrics: MetricsRegistry, features: FeatureGates): void {
  metrics.gauge(
    'kubernetes_feature_enabled',
    'This metric records the data about the stage and enablement of a k8s feature.',
    ['name', 'stage'],
    () => [...knownGates].map(([name, { stage }]) => [[name, stage], features.isEnabled(name) ? 1 : 0] as const),
  )
}
