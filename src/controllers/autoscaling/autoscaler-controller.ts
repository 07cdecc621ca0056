/** Scales workloads by their metrics: each HorizontalPodAutoscaler is reconciled once per period. */
import { type Controller, type ReconcileContext, reads, watch } from '../../client/controller/controller.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscalers, pods } from '../../client/kinds.ts'
import { isNotFoundOrConflict, messageOf } from '../api-errors.ts'
import { type AutoscalerStatus, Conditions, withStatus } from './autoscaler-status.ts'
import { desiredReplicas, type MetricsDecision } from './desired-replicas.ts'
import type { MetricStatus } from './metrics/metric-proposal.ts'
import { type History, withChange } from './replicas/limits.ts'
import { KindMapper, readScale, writeScale } from './scale-target.ts'
import {
  actionOf,
  type ScaledObject,
  type ScalingAction,
  type ScalingError,
  ScalingMetrics,
} from './scaling-metrics.ts'
import { Selectors } from './selectors.ts'

export interface AutoscalerOptions {
  readonly concurrency: number
  /** Period of reconciling each autoscaler. All times are in ms. */
  readonly periodMs: number
  readonly downscaleMs: number
  readonly tolerance: number
  /** Default: metrics that are not exported. */
  readonly metrics?: ScalingMetrics
  readonly initializationMs: number
  readonly readinessDelayMs: number
  /** In ms since the epoch. */
  readonly now: () => number
}

/** State of an autoscaler in memory between reconciles. */
export interface AutoscalerState {
  history: History
}

const noHistory: History = { recommendations: [], changes: [] }

export function autoscalerController(options: AutoscalerOptions): Controller {
  const { metrics = new ScalingMetrics() } = options
  const mapper = new KindMapper()
  const selectors = new Selectors()
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
        onChange(scaler, before, { requeue }) {
          const { namespace, name } = (scaler ?? before)?.metadata ?? {}
          const key = `${namespace}/${name}`
          const known = scheduled.get(key)
          if (known && !scaler) known.history = noHistory
          if (known || !scaler) return
          scheduled.set(key, { history: noHistory })
          requeue(key, options.periodMs)
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
      const memory = scheduled.get(key)
      if (!scaler || !memory) {
        scheduled.delete(key)
        selectors.forget(key)
        return
      }
      // The next reconcile is after one period, even after an error.
      const began = performance.now()
      const { action, error } = await syncAutoscaler(scaler, memory, context).catch((error: unknown) => {
        context.log(`${namespace}/${name} is not scaled: ${messageOf(error)}`)
        return { action: 'none', error: 'internal' } as const
      })
      metrics.observeReconcile(action, error, (performance.now() - began) / 1000)
      context.requeue(key, options.periodMs)
    },
  }

  async function syncAutoscaler(
    scaler: HorizontalPodAutoscaler,
    memory: AutoscalerState,
    context: ReconcileContext,
  ): Promise<SyncResult> {
    const { client, events } = context
    const { namespace = '' } = scaler.metadata
    const now = options.now()
    const before: AutoscalerStatus = scaler.status ?? { desiredReplicas: 0 }
    const conditions = new Conditions(before.conditions, timestamp(now))
    const updateStatus = (more: Partial<AutoscalerStatus>): Promise<void> =>
      writeStatus(scaler, { ...before, ...more, conditions: conditions.all() }, context)
    const { spec } = scaler
    const nothing: SyncResult = { action: 'none', error: 'none' }
    const failed: SyncResult = { action: 'none', error: 'internal' }
    if (!spec) return nothing

    const read = await readScale(client, mapper, namespace, spec.scaleTargetRef).catch((error: unknown) =>
      messageOf(error),
    )
    if (typeof read === 'string') {
      events.record(scaler, 'Warning', 'FailedGetScale', read)
      conditions.set('AbleToScale', false, {
        reason: 'FailedGetScale',
        message: `the HPA controller was unable to get the target's current scale: ${read}`,
      })
      await updateStatus({})
      return failed
    }
    const [target, scale] = read
    conditions.set('AbleToScale', true, {
      reason: 'SucceededGetScale',
      message: "the HPA controller was able to get the target's current scale",
    })
    const current = scale.spec?.replicas ?? 0
    if (memory.history.recommendations.length === 0)
      memory.history = { ...memory.history, recommendations: [{ replicas: current, at: now }] }

    const decision = await decide(scaler, current, () =>
      desiredReplicas(
        { scaler, scale, current, conditions, memory, mapper, selectors, options, metrics, now },
        context,
      ),
    )
    if (decision.failure !== undefined) {
      await updateStatus({ currentReplicas: current, currentMetrics: nonEmpty(decision.statuses) })
      events.record(scaler, 'Warning', 'FailedComputeMetricsReplicas', decision.failure)
      return failed
    }
    const { replicas, reason, statuses } = decision
    if (replicas === undefined) {
      conditions.set('ScalingActive', false, {
        reason: 'ScalingDisabled',
        message: 'scaling is disabled since the replica count of the target is zero',
      })
      await updateStatus({ currentReplicas: current, desiredReplicas: current, currentMetrics: undefined })
      return nothing
    }
    const measured = { currentReplicas: current, currentMetrics: nonEmpty(statuses) }
    if (replicas === current) {
      await updateStatus({ ...measured, desiredReplicas: current })
      return nothing
    }
    try {
      await writeScale(client, target, scale, replicas)
    } catch (error) {
      events.record(
        scaler,
        'Warning',
        'FailedRescale',
        `New size: ${replicas}; reason: ${reason}; error: ${messageOf(error)}`,
      )
      conditions.set('AbleToScale', false, {
        reason: 'FailedUpdateScale',
        message: `the HPA controller was unable to update the target scale: ${messageOf(error)}`,
      })
      await updateStatus(measured)
      return failed
    }
    conditions.set('AbleToScale', true, {
      reason: 'SucceededRescale',
      message: `the HPA controller was able to update the target scale to ${replicas}`,
    })
    events.record(scaler, 'Normal', 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`)
    memory.history = withChange(memory.history, replicas - current, now)
    await updateStatus({ ...measured, desiredReplicas: replicas, lastScaleTime: timestamp(now) })
    return { action: actionOf(current, replicas), error: 'none' }
  }
}

/** The result of a reconcile. */
interface SyncResult {
  readonly action: ScalingAction
  readonly error: ScalingError
}

const scaledObject = ({ metadata: { namespace = '', name = '' }, status }: HorizontalPodAutoscaler): ScaledObject => ({
  namespace,
  name,
  desiredReplicas: status?.desiredReplicas ?? 0,
})

/** Omits an empty list. */
const nonEmpty = (statuses: readonly MetricStatus[] = []): MetricStatus[] | undefined =>
  statuses.length > 0 ? [...statuses] : undefined

/**
 * Brings a target that is out of bounds back into them regardless of metrics. A target that was scaled to zero is not
 * scaled: the decision is empty.
 */
async function decide(
  { spec }: HorizontalPodAutoscaler,
  current: number,
  measured: () => Promise<MetricsDecision>,
): Promise<MetricsDecision> {
  const { minReplicas = 1, maxReplicas = 0 } = spec ?? {}
  if (current === 0 && minReplicas !== 0) return {}
  if (current > maxReplicas)
    return { replicas: maxReplicas, reason: 'Current number of replicas above Spec.MaxReplicas' }
  if (current < minReplicas)
    return { replicas: minReplicas, reason: 'Current number of replicas below Spec.MinReplicas' }
  return measured()
}

async function writeStatus(
  scaler: HorizontalPodAutoscaler,
  status: AutoscalerStatus,
  { client, events }: ReconcileContext,
): Promise<void> {
  const next = withStatus(scaler, status)
  if (!next) return
  try {
    await client.updateStatus(horizontalPodAutoscalers, next)
  } catch (error) {
    // A concurrent change or deletion is handled by the next reconcile.
    if (isNotFoundOrConflict(error)) return
    events.record(scaler, 'Warning', 'FailedUpdateStatus', messageOf(error))
  }
}

const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
