/** Scales workloads by their metrics: each HorizontalPodAutoscaler is reconciled once per period. */
import { type Controller, reads, watch } from '../../client/controller/controller.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscalers, pods } from '../../client/kinds.ts'
import { messageOf } from '../api-errors.ts'
import type { History } from './replicas/limits.ts'
import { KindMapper } from './scale-target.ts'
import { type AutoscalerState, failed, Scaling, type ScalingParameters, type SharedState } from './scaling.ts'
import { type ScaledObject, ScalingMetrics } from './scaling-metrics.ts'
import { Selectors } from './selectors.ts'

export interface AutoscalerOptions extends ScalingParameters {
  readonly concurrency: number
  /** Period of reconciling each autoscaler, in ms. */
  readonly periodMs: number
  /** Default: metrics that are not exported. */
  readonly metrics?: ScalingMetrics
  /** In ms since the epoch. */
  readonly now: () => number
}

const noHistory: History = { recommendations: [], changes: [] }

export function autoscalerController(options: AutoscalerOptions): Controller {
  const { metrics = new ScalingMetrics(), periodMs, now } = options
  const shared: SharedState = { parameters: options, metrics, mapper: new KindMapper(), selectors: new Selectors() }
  /** Autoscalers with a scheduled reconcile, by key. */
  const scheduled = new Map<string, AutoscalerState>()
  return {
    name: 'horizontal-pod-autoscaler-controller',
    component: 'horizontal-pod-autoscaler',
    concurrency: options.concurrency,
    watches: [
      watch({
        resource: horizontalPodAutoscalers,
        keys: () => [],
        // The first reconcile is after one period: a new workload has no metrics yet.
        onChange(scaler, old, { requeue }) {
          const { namespace, name } = (scaler ?? old)?.metadata ?? {}
          const key = `${namespace}/${name}`
          const state = scheduled.get(key)
          if (state && !scaler) state.history = noHistory
          if (state || !scaler) return
          scheduled.set(key, { history: noHistory })
          requeue(key, periodMs)
        },
      }),
      reads(pods),
    ],
    async run({ caches }) {
      metrics.setAutoscalers(() => [...caches.all(horizontalPodAutoscalers)].map(scaledObject))
    },
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const scaler = context.caches.get(horizontalPodAutoscalers, namespace, name)
      const state = scheduled.get(key)
      if (!scaler || !state) {
        scheduled.delete(key)
        shared.selectors.forget(key)
        return
      }
      const startedAt = performance.now()
      const { action, error } = await new Scaling(scaler, state, shared, context, now()).run().catch((error) => {
        context.log(`${key} is not scaled: ${messageOf(error)}`)
        return failed
      })
      metrics.observeReconcile(action, error, (performance.now() - startedAt) / 1000)
      // The next reconcile is after one period, even after an error.
      context.requeue(key, periodMs)
    },
  }
}

const scaledObject = ({ metadata: { namespace = '', name = '' }, status }: HorizontalPodAutoscaler): ScaledObject => ({
  namespace,
  name,
  desiredReplicas: status?.desiredReplicas ?? 0,
})
