/** What the API fills in on autoscalers of v2. */
import { nullTimes } from '../../nulls.ts'
import type { Autoscaler, Behavior, Metric } from './rules.ts'

type ScalingRules = NonNullable<Behavior['scaleUp']>

/** The metric of autoscalers that name none. */
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

/** What was given over what holds otherwise. */
const over = (rules: ScalingRules, given: ScalingRules | undefined): ScalingRules => ({
  ...rules,
  ...Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== undefined && value !== null)),
})

export function autoscalerDefaults(scaler: Autoscaler): void {
  const { spec } = scaler
  if (spec) {
    spec.minReplicas ??= 1
    if (!spec.metrics?.length) spec.metrics = [defaultMetric()]
    // Either direction makes both explicit.
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
  if (status.conditions) nullTimes(status.conditions, 'lastTransitionTime')
}
