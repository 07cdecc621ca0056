/** Defaults of autoscalers of v2. */
import { nullMissingTimes } from '../../nulls.ts'
import type { Autoscaler, Behavior, Metric } from './rules.ts'

type ScalingRules = NonNullable<Behavior['scaleUp']>

/** Returns the default metric. */
export const defaultMetric = (): Metric => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
})

const scaleUp = (): ScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
})
const scaleDown = (): ScalingRules => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
})

/** Returns the default rules, overridden by the given ones. */
const over = (rules: ScalingRules, given: ScalingRules | undefined): ScalingRules => ({
  ...rules,
  ...Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== undefined && value !== null)),
})

export function autoscalerDefaults(scaler: Autoscaler): void {
  const { spec } = scaler
  if (spec) {
    spec.minReplicas ??= 1
    if (!spec.metrics?.length) spec.metrics = [defaultMetric()]
    // If one direction is set, both get defaults.
    if (spec.behavior) {
      spec.behavior.scaleUp = over(scaleUp(), spec.behavior.scaleUp)
      spec.behavior.scaleDown = over(scaleDown(), spec.behavior.scaleDown)
    }
  }
  scaler.status ??= { desiredReplicas: 0 }
  statusDefaults(scaler.status)
}

export function statusDefaults(status: NonNullable<Autoscaler['status']>): void {
  status.desiredReplicas ??= 0
  status.currentMetrics ??= null as never
  if (status.conditions) nullMissingTimes(status.conditions, 'lastTransitionTime')
}
