/** Metrics of probes, as `/metrics/probes` of a kubelet shows them. */
import { defaultBuckets } from '../../lib/metrics/buckets.ts'
import { Distribution, MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Pod } from '../pod-types.ts'
import type { ProbeKind } from './prober.ts'

const resultLabels = { success: 'successful', failure: 'failed' } as const

interface Counted<Value> {
  readonly labels: readonly string[]
  value: Value
}

/** Unlike the series of a registry, these end with their pods. */
export class ProbeMetrics {
  /** By pod UID. */
  readonly #totals = new Map<string, Map<string, Counted<number>>>()
  readonly #durations = new Map<string, Map<string, Counted<Distribution>>>()

  readonly #registry = new MetricsRegistry()

  constructor() {
    this.#registry.externalCounter(
      'prober_probe_total',
      'Cumulative number of a liveness, readiness or startup probe for a container by result.',
      ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
      () => valuesOf(this.#totals),
    )
    this.#registry.externalHistogram(
      'prober_probe_duration_seconds',
      'Duration in seconds for a probe response.',
      defaultBuckets,
      ['probe_type', 'container', 'pod', 'namespace'],
      () => valuesOf(this.#durations),
    )
  }

  /** Returns the metrics in Prometheus' text format. */
  render(): string {
    return this.#registry.render()
  }

  /** Counts a verdict. The duration is that of probes that succeeded, as upstream. */
  count(kind: ProbeKind, { metadata }: Pod, container: string, result: 'success' | 'failure', seconds: number): void {
    const { name = '', namespace = '', uid = '' } = metadata
    const total = seriesOf(this.#totals, uid, [kind, resultLabels[result], container, name, namespace, uid], () => 0)
    total.value++
    if (result !== 'success') return
    const labels = [kind, container, name, namespace]
    seriesOf(this.#durations, uid, labels, () => new Distribution(defaultBuckets)).value.observe(seconds)
  }

  /** Ends the series of a pod. */
  remove(podUid: string): void {
    this.#totals.delete(podUid)
    this.#durations.delete(podUid)
  }
}

type Series<Value> = Map<string, Map<string, Counted<Value>>>

function seriesOf<Value>(
  all: Series<Value>,
  podUid: string,
  labels: readonly string[],
  make: () => Value,
): Counted<Value> {
  let ofPod = all.get(podUid)
  if (!ofPod) all.set(podUid, (ofPod = new Map()))
  const key = labels.join('\0')
  let series = ofPod.get(key)
  if (!series) ofPod.set(key, (series = { labels, value: make() }))
  return series
}

function* valuesOf<Value>(all: Series<Value>): Generator<readonly [readonly string[], Value]> {
  for (const ofPod of all.values()) for (const { labels, value } of ofPod.values()) yield [labels, value]
}
