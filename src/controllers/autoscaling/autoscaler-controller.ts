/**
 * Gives workloads as many replicas as what is measured of them asks for: HorizontalPodAutoscalers, each looked at once
 * a period.
 */
import { type Controller, type ReconcileContext, reads, watch } from '../../client/controller/controller.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscalers, pods } from '../../client/kinds.ts'
import { isNotFoundOrConflict, messageOf } from '../api-errors.ts'
import { type AutoscalerStatus, Conditions, withStatus } from './autoscaler-status.ts'
import { desiredReplicas, type MetricsDecision } from './desired-replicas.ts'
import type { MetricStatus } from './metrics/metric-proposal.ts'
import { changed, type History } from './replicas/limits.ts'
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
  /** How often each autoscaler is looked at; all times are in milliseconds. */
  readonly periodMs: number
  readonly downscaleMs: number
  readonly tolerance: number
  /** Counts nothing that anybody sees unless said. */
  readonly metrics?: ScalingMetrics
  readonly initializationMs: number
  readonly readinessDelayMs: number
  /** Since the epoch. */
  readonly now: () => number
}

/** What is known of one autoscaler between two looks. */
export interface Memory {
  history: History
}

const noHistory: History = { recommendations: [], changes: [] }

export function autoscalerController(options: AutoscalerOptions): Controller {
  const { metrics = new ScalingMetrics() } = options
  const mapper = new KindMapper()
  const selectors = new Selectors()
  /** Those that will be looked at, by their keys. */
  const scheduled = new Map<string, Memory>()
  return {
    name: 'horizontal-pod-autoscaler-controller',
    component: 'horizontal-pod-autoscaler',
    concurrency: options.concurrency,
    watches: [
      watch({
        resource: horizontalPodAutoscalers,
        keys: () => [],
        // The first look is a period later: a new workload has not been measured yet.
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
      metrics.follow(() => [...caches.all(horizontalPodAutoscalers)].map(scaledObject))
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
      // The next look is a period later, whatever comes of this one.
      const began = performance.now()
      const { action, error } = await look(scaler, memory, context).catch((error: unknown) => {
        context.log(`${name} of ${namespace} is not scaled: ${messageOf(error)}`)
        return { action: 'none', error: 'internal' } as const
      })
      metrics.reconciled(action, error, (performance.now() - began) / 1000)
      context.requeue(key, options.periodMs)
    },
  }

  async function look(scaler: HorizontalPodAutoscaler, memory: Memory, context: ReconcileContext): Promise<Look> {
    const { client, events } = context
    const { namespace = '' } = scaler.metadata
    const now = options.now()
    const before: AutoscalerStatus = scaler.status ?? { desiredReplicas: 0 }
    const conditions = new Conditions(before.conditions, timestamp(now))
    const tell = (more: Partial<AutoscalerStatus>): Promise<void> =>
      writeStatus(scaler, { ...before, ...more, conditions: conditions.all() }, context)
    const { spec } = scaler
    const nothing: Look = { action: 'none', error: 'none' }
    const failed: Look = { action: 'none', error: 'internal' }
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
      await tell({})
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
      await tell({ currentReplicas: current, currentMetrics: told(decision.statuses) })
      events.record(scaler, 'Warning', 'FailedComputeMetricsReplicas', decision.failure)
      return failed
    }
    const { replicas, reason, statuses } = decision
    if (replicas === undefined) {
      conditions.set('ScalingActive', false, {
        reason: 'ScalingDisabled',
        message: 'scaling is disabled since the replica count of the target is zero',
      })
      await tell({ currentReplicas: current, desiredReplicas: current, currentMetrics: undefined })
      return nothing
    }
    const measured = { currentReplicas: current, currentMetrics: told(statuses) }
    if (replicas === current) {
      await tell({ ...measured, desiredReplicas: current })
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
      await tell(measured)
      return failed
    }
    conditions.set('AbleToScale', true, {
      reason: 'SucceededRescale',
      message: `the HPA controller was able to update the target scale to ${replicas}`,
    })
    events.record(scaler, 'Normal', 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`)
    memory.history = changed(memory.history, replicas - current, now)
    await tell({ ...measured, desiredReplicas: replicas, lastScaleTime: timestamp(now) })
    return { action: actionOf(current, replicas), error: 'none' }
  }
}

/** What a look came to. */
interface Look {
  readonly action: ScalingAction
  readonly error: ScalingError
}

const scaledObject = ({ metadata: { namespace = '', name = '' }, status }: HorizontalPodAutoscaler): ScaledObject => ({
  namespace,
  name,
  desiredReplicas: status?.desiredReplicas ?? 0,
})

/** A list that is empty is not told. */
const told = (statuses: readonly MetricStatus[] = []): MetricStatus[] | undefined =>
  statuses.length > 0 ? [...statuses] : undefined

/**
 * Out of bounds, a target is brought back, whatever is measured; one that somebody has scaled to zero is left alone:
 * nothing is decided.
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
    // Who changes or deletes it meanwhile, is seen with the next look.
    if (isNotFoundOrConflict(error)) return
    events.record(scaler, 'Warning', 'FailedUpdateStatus', messageOf(error))
  }
}

const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
