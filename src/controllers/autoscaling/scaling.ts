/** One reconcile of an autoscaler: reads the scale of its target, decides the replicas, writes the scale and status. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscalers, type Pod } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import { parseQuantity } from '../../machinery/values/quantity.ts'
import { isNotFoundOrConflict, messageOf } from '../api-errors.ts'
import { type AutoscalerStatus, Conditions, withStatus } from './autoscaler-status.ts'
import { type Evaluation, evaluateMetrics } from './metrics/evaluate-metrics.ts'
import type { MetricStatus, Proposal } from './metrics/metric-proposal.ts'
import { MetricsClient } from './metrics/metrics-client.ts'
import { type History, limit, withChange } from './replicas/limits.ts'
import type { Tolerances } from './replicas/pod-replicas.ts'
import { type KindMapper, type KindReference, readScale, type Scale, writeScale } from './scale-target.ts'
import {
  conclusiveProposal,
  decideByBounds,
  invalidMetrics,
  reasonOf,
  type ScalingDecision,
} from './scaling-decision.ts'
import { actionOf, type ScalingAction, type ScalingError, type ScalingMetrics } from './scaling-metrics.ts'
import type { Selectors } from './selectors.ts'
import { type SelectorProblem, targetPods } from './target-pods.ts'

/** Parameters of all autoscalers. Times are in ms. */
export interface ScalingParameters {
  readonly downscaleMs: number
  readonly tolerance: number
  readonly initializationMs: number
  readonly readinessDelayMs: number
}

/** State of the controller that all autoscalers share. */
export interface SharedState {
  readonly parameters: ScalingParameters
  readonly metrics: ScalingMetrics
  readonly mapper: KindMapper
  readonly selectors: Selectors
}

/** State of an autoscaler in memory between reconciles. */
export interface AutoscalerState {
  history: History
}

export interface ScalingResult {
  readonly action: ScalingAction
  readonly error: ScalingError
}

const unchanged: ScalingResult = { action: 'none', error: 'none' }
export const failed: ScalingResult = { action: 'none', error: 'internal' }

export class Scaling {
  readonly #scaler: HorizontalPodAutoscaler
  readonly #state: AutoscalerState
  readonly #shared: SharedState
  readonly #context: ReconcileContext
  readonly #now: number
  readonly #conditions: Conditions

  /** `now` is in ms since the epoch. */
  constructor(
    scaler: HorizontalPodAutoscaler,
    state: AutoscalerState,
    shared: SharedState,
    context: ReconcileContext,
    now: number,
  ) {
    this.#scaler = scaler
    this.#state = state
    this.#shared = shared
    this.#context = context
    this.#now = now
    this.#conditions = new Conditions(scaler.status?.conditions, timestamp(now))
  }

  async run(): Promise<ScalingResult> {
    const { spec } = this.#scaler
    if (!spec) return unchanged
    const found = await this.#readScale(spec.scaleTargetRef)
    if (!found) return failed
    const [target, scale] = found
    const current = scale.spec?.replicas ?? 0
    const { history } = this.#state
    if (history.recommendations.length === 0)
      this.#state.history = { ...history, recommendations: [{ replicas: current, at: this.#now }] }
    const decision = decideByBounds(this.#scaler, current) ?? (await this.#decideByMetrics(scale, current))
    if (decision.step === 'disable') return this.#disable(current)
    const measured = { currentReplicas: current, currentMetrics: nonEmpty(decision.statuses) }
    if (decision.step === 'fail') {
      await this.#updateStatus(measured)
      this.#warn('FailedComputeMetricsReplicas', decision.message)
      return failed
    }
    const { replicas, reason } = decision
    if (replicas === current) {
      await this.#updateStatus({ ...measured, desiredReplicas: current })
      return unchanged
    }
    if (!(await this.#rescale(target, scale, replicas, reason))) {
      await this.#updateStatus(measured)
      return failed
    }
    this.#state.history = withChange(this.#state.history, replicas - current, this.#now)
    await this.#updateStatus({ ...measured, desiredReplicas: replicas, lastScaleTime: timestamp(this.#now) })
    return { action: actionOf(current, replicas), error: 'none' }
  }

  /** Resolves with the target's resource and its scale; undefined if they cannot be read. */
  async #readScale(reference: KindReference): Promise<readonly [Resource<Scale>, Scale] | undefined> {
    const { namespace = '' } = this.#scaler.metadata
    try {
      const found = await readScale(this.#context.client, this.#shared.mapper, namespace, reference)
      this.#conditions.set('AbleToScale', true, {
        reason: 'SucceededGetScale',
        message: "the HPA controller was able to get the target's current scale",
      })
      return found
    } catch (error) {
      this.#warn('FailedGetScale', messageOf(error))
      this.#conditions.set('AbleToScale', false, {
        reason: 'FailedGetScale',
        message: `the HPA controller was unable to get the target's current scale: ${messageOf(error)}`,
      })
      await this.#updateStatus({})
      return undefined
    }
  }

  async #decideByMetrics(scale: Scale, current: number): Promise<ScalingDecision> {
    const selector = scale.status?.selector ?? ''
    const { caches } = this.#context
    const found = targetPods(this.#scaler, selector, this.#shared.selectors, caches)
    if (found.problem) return this.#reportProblem(found.problem)
    const evaluation = await this.#evaluate(found.pods, selector, scale)
    for (const { reason, why } of evaluation.failures) this.#warn(reason, why)
    const proposal = conclusiveProposal(evaluation, current)
    if (!proposal) {
      this.#reportFailure(evaluation)
      return invalidMetrics(evaluation)
    }
    this.#conditions.set('ScalingActive', true, {
      reason: 'ValidMetricFound',
      message: `the HPA was able to successfully calculate a replica count from ${proposal.name}`,
    })
    return {
      step: 'scale',
      replicas: this.#limit(proposal, current),
      reason: reasonOf(proposal, current),
      statuses: evaluation.statuses,
    }
  }

  #evaluate(pods: readonly Pod[], selector: string, { spec, status }: Scale): Promise<Evaluation> {
    const { parameters, metrics, mapper } = this.#shared
    const { namespace = '' } = this.#scaler.metadata
    return evaluateMetrics(
      this.#scaler.spec?.metrics ?? [],
      {
        namespace,
        pods,
        selector,
        specReplicas: spec?.replicas ?? 0,
        statusReplicas: status?.replicas ?? 0,
        tolerances: tolerancesOf(this.#scaler, parameters.tolerance),
        readiness: {
          initializationMs: parameters.initializationMs,
          delayMs: parameters.readinessDelayMs,
          now: this.#now,
        },
      },
      new MetricsClient(this.#context.client, mapper, namespace),
      metrics,
    )
  }

  /** Limits the proposed replicas and adds them to the history. */
  #limit(proposal: Proposal, current: number): number {
    const { minReplicas: min = 1, maxReplicas: max = 0, behavior } = this.#scaler.spec ?? {}
    const { replicas, able, limited, history } = limit(proposal.replicas, this.#state.history, {
      current,
      min,
      max,
      behavior,
      downscaleMs: this.#shared.parameters.downscaleMs,
      now: this.#now,
    })
    this.#state.history = history
    this.#conditions.set('AbleToScale', true, able)
    this.#conditions.set('ScalingLimited', limited.isLimited, limited)
    return replicas
  }

  /** Writes the replicas; resolves with false if that failed. */
  async #rescale(target: Resource<Scale>, scale: Scale, replicas: number, reason: string): Promise<boolean> {
    const { client, events } = this.#context
    try {
      await writeScale(client, target, scale, replicas)
    } catch (error) {
      this.#warn('FailedRescale', `New size: ${replicas}; reason: ${reason}; error: ${messageOf(error)}`)
      this.#conditions.set('AbleToScale', false, {
        reason: 'FailedUpdateScale',
        message: `the HPA controller was unable to update the target scale: ${messageOf(error)}`,
      })
      return false
    }
    this.#conditions.set('AbleToScale', true, {
      reason: 'SucceededRescale',
      message: `the HPA controller was able to update the target scale to ${replicas}`,
    })
    events.record(this.#scaler, 'Normal', 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`)
    return true
  }

  async #disable(current: number): Promise<ScalingResult> {
    this.#conditions.set('ScalingActive', false, {
      reason: 'ScalingDisabled',
      message: 'scaling is disabled since the replica count of the target is zero',
    })
    await this.#updateStatus({ currentReplicas: current, desiredReplicas: current, currentMetrics: undefined })
    return unchanged
  }

  #reportProblem({ reason, event, message = event.message }: SelectorProblem): ScalingDecision {
    this.#warn(event.reason, event.message)
    this.#conditions.set('ScalingActive', false, { reason, message })
    return { step: 'fail', message: event.message }
  }

  /** Sets the condition for the first failed metric. */
  #reportFailure({ failures: [first] }: Evaluation): void {
    if (!first) return
    const { reason, why } = first
    const message = `the HPA was unable to compute the replica count: ${why}`
    this.#conditions.set('ScalingActive', false, { reason, message })
  }

  #warn(reason: string, message: string): void {
    this.#context.events.record(this.#scaler, 'Warning', reason, message)
  }

  async #updateStatus(changes: Partial<AutoscalerStatus>): Promise<void> {
    const previous: AutoscalerStatus = this.#scaler.status ?? { desiredReplicas: 0 }
    const next = withStatus(this.#scaler, { ...previous, ...changes, conditions: this.#conditions.all() })
    if (!next) return
    try {
      await this.#context.client.updateStatus(horizontalPodAutoscalers, next)
    } catch (error) {
      // A concurrent change or deletion is handled by the next reconcile.
      if (!isNotFoundOrConflict(error)) this.#warn('FailedUpdateStatus', messageOf(error))
    }
  }
}

/** The tolerances of the autoscaler's behavior, or the default. */
function tolerancesOf({ spec }: HorizontalPodAutoscaler, defaultTolerance: number): Tolerances {
  const own = (tolerance: string | undefined): number =>
    tolerance === undefined ? defaultTolerance : Number(parseQuantity(`${tolerance}`).nano) / 1e9
  return { down: own(spec?.behavior?.scaleDown?.tolerance), up: own(spec?.behavior?.scaleUp?.tolerance) }
}

/** Omits an empty list. */
const nonEmpty = (statuses: readonly MetricStatus[] = []): MetricStatus[] | undefined =>
  statuses.length > 0 ? [...statuses] : undefined

const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
