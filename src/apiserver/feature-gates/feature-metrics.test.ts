import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { featureMetrics } from './feature-metrics.ts'

const shown = (features: FeatureGates, gate: string): string | undefined => {
  const registry = new MetricsRegistry()
  featureMetrics(registry, features)
  return registry
    .render()
    .split('\n')
    .find((line) => line.includes(`name="${gate}"`))
}

test('metrics show the enabled features', () => {
  const line = (value: 0 | 1) => `kubernetes_feature_enabled{name="MaxUnavailableStatefulSet",stage="BETA"} ${value}`
  assert.equal(shown(new FeatureGates(), 'MaxUnavailableStatefulSet'), line(0))
  assert.equal(shown(new FeatureGates({ MaxUnavailableStatefulSet: true }), 'MaxUnavailableStatefulSet'), line(1))
  assert.equal(shown(new FeatureGates({ AllBeta: true }), 'MaxUnavailableStatefulSet'), line(1))
  assert.equal(
    shown(new FeatureGates({ AllBeta: true, MaxUnavailableStatefulSet: false }), 'MaxUnavailableStatefulSet'),
    line(0),
  )
  assert.equal(
    shown(new FeatureGates({ AllAlpha: false }), 'KMSv1'),
    'kubernetes_feature_enabled{name="KMSv1",stage="DEPRECATED"} 0',
  )
})
