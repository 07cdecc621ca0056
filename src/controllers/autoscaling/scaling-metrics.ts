/** Metrics of autoscalers (`horizontal_pod_autoscaler_controller_*`). */
import { exponentialBuckets } from '../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'

export type ScalingAction = 'scale_up' | 'scale_down' | 'none'
/** The API rejects what would be `spec` errors. */
export type ScalingError = 'internal' | 'none'

export interface ScaledObject {
  readonly namespace: string
  readonly name: string
  readonly desiredReplicas: number
}

const subsystem = 'horizontal_pod_autoscaler_controller'
const buckets = exponentialBuckets(0.001, 2, 15)
const actionHelp = "The label 'action' should be either 'scale_down', 'scale_up', or 'none'."
const errorHelp = "the label 'error' should be either 'spec', 'internal', or 'none'."

export class ScalingMetrics {
  readonly #reconciliations
  readonly #reconciliationSeconds
  readonly #computations
  readonly #computationSeconds
  #scaled: () => Iterable<ScaledObject> = () => []

  constructor(registry = new MetricsRegistry()) {
    const labels = ['action', 'error']
    this.#reconciliations = registry.counter(
      `${subsystem}_reconciliations_total`,
      `Number of reconciliations of HPA controller. ${actionHelp} Also, ${errorHelp}`,
      labels,
    )
    this.#reconciliationSeconds = registry.histogram(
      `${subsystem}_reconciliation_duration_seconds`,
      `The time(seconds) that the HPA controller takes to reconcile once. ${actionHelp} Also, ${errorHelp}`,
      buckets,
      labels,
    )
    const typed = [...labels, 'metric_type']
    this.#computations = registry.counter(
      `${subsystem}_metric_computation_total`,
      `Number of metric computations. ${actionHelp} Also, ${errorHelp} The label 'metric_type' corresponds to ` +
        'HPA.spec.metrics[*].type',
      typed,
    )
    this.#computationSeconds = registry.histogram(
      `${subsystem}_metric_computation_duration_seconds`,
      `The time(seconds) that the HPA controller takes to calculate one metric. ${actionHelp} Also, ${errorHelp} ` +
        "The label 'metric_type' corresponds to HPA.spec.metrics[*].type",
      buckets,
      typed,
    )
    registry.gauge(
      `${subsystem}_num_horizontal_pod_autoscalers`,
      'Current number of controlled HPA objects.',
      [],
      () => [[[], [...this.#scaled()].length]],
    )
    registry.gauge(
      `${subsystem}_desired_replicas`,
      'Current desired replica count for HPA objects.',
      ['namespace', 'hpa_name'],
      () => [...this.#scaled()].map(({ namespace, name, desiredReplicas }) => [[namespace, name], desiredReplicas]),
    )
  }

  /** Sets the autoscalers that the gauges read. */
  setAutoscalers(scaled: () => Iterable<ScaledObject>): void {
    this.#scaled = scaled
  }

  observeReconcile(action: ScalingAction, error: ScalingError, seconds: number): void {
    this.#reconciliations([action, error]).add()
    this.#reconciliationSeconds([action, error]).observe(seconds)
  }

  observeComputation(action: ScalingAction, error: ScalingError, type: string, seconds: number): void {
    this.#computations([action, error, type]).add()
    this.#computationSeconds([action, error, type]).observe(seconds)
  }
}

/** The action that changes `current` to `desired` replicas. */
export const actionOf = (current: number, desired: number): ScalingAction =>
  desired > current ? 'scale_up' : desired < current ? 'scale_down' : 'none'
