/**
 * What is measured: resources, metrics of pods and of other objects, and metrics of anything else, from the three
 * metrics APIs.
 */
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { goDurationMs } from '../../../lib/go/go-duration.ts'
import { milliValue } from '../../../machinery/values/quantity.ts'
import { refusalText } from '../refusal-text.ts'
import { groupResource, type KindMapper, type KindReference, versionsOf } from '../scale-target.ts'

/** What one pod uses. */
export interface PodMetric {
  /** In thousandths. */
  readonly value: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The time that was measured, in milliseconds. */
  readonly windowMs: number
}

/** By the names of pods. */
export type PodMetrics = ReadonlyMap<string, PodMetric>

interface PodMetricsItem {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly timestamp: string
  readonly window: string
  readonly containers?: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[]
}

interface MetricValue {
  readonly describedObject?: { readonly name?: string }
  readonly timestamp: string
  readonly windowSeconds?: number
  readonly window?: number
  readonly value: string
}

interface List<T> {
  readonly items?: readonly T[]
}

/** How long custom metrics are measured that do not say it. */
const usualWindowMs = 60_000

const milli = (quantity: string): number => Number(milliValue(quantity))

/** Reads metrics of one namespace. Selectors are texts; rejections are Errors in upstream's words. */
export class MetricsClient {
  readonly #client: RestClient
  readonly #mapper: KindMapper
  readonly #namespace: string

  constructor(client: RestClient, mapper: KindMapper, namespace: string) {
    this.#client = client
    this.#mapper = mapper
    this.#namespace = namespace
  }

  /**
   * What pods use of a resource: all their containers together, or one of them. Pods that do not tell it of all
   * containers are left out.
   */
  async resource(name: string, selector: string, container = ''): Promise<PodMetrics> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${this.#namespace}/pods?${new URLSearchParams({ labelSelector: selector })}`
    const items = await this.#list<PodMetricsItem>(path, 'pods.metrics.k8s.io', 'resource metrics API')
    const metrics = new Map<string, PodMetric>()
    for (const { metadata, timestamp, window, containers = [] } of items) {
      const measured = container ? containers.filter((one) => one.name === container) : containers
      if (container && measured.length === 0) {
        throw new Error(
          `failed to get container metrics: container ${container} not present in metrics for pod ` +
            `${this.#namespace}/${metadata.name}`,
        )
      }
      const usages = measured.map(({ usage }) => usage[name])
      if (usages.length === 0 || usages.includes(undefined)) continue
      const value = usages.reduce((sum, usage) => sum + milli(usage ?? '0'), 0)
      metrics.set(metadata.name, { value, at: Date.parse(timestamp), windowMs: goDurationMs(window) })
    }
    return metrics
  }

  /** A metric of each of the selected pods. */
  async pods(metric: string, selector: string, metricSelector: string): Promise<PodMetrics> {
    const items = await this.#custom(`pods/*/${encodeURIComponent(metric)}`, selector, metricSelector)
    if (items.length === 0) throw new Error('no metrics returned from custom metrics API')
    return new Map(
      items.map(({ describedObject, timestamp, window, windowSeconds = window, value }) => [
        describedObject?.name ?? '',
        {
          value: milli(value),
          at: Date.parse(timestamp),
          windowMs: windowSeconds === undefined ? usualWindowMs : windowSeconds * 1000,
        },
      ]),
    )
  }

  /** A metric of one object, in thousandths. */
  async object(metric: string, reference: KindReference, metricSelector: string): Promise<number> {
    const found = await this.#mapper.find(this.#client, reference).catch(fetchFailed('custom metrics API'))
    // An autoscaler sees its own namespace only, whatever name is given.
    const place =
      found.kind === 'Namespace' && found.group === ''
        ? 'metrics'
        : `${groupResource(found)}/${encodeURIComponent(reference.name)}`
    const items = await this.#custom(`${place}/${encodeURIComponent(metric)}`, '', metricSelector)
    const [only, ...others] = items
    if (!only || others.length > 0) {
      throw new Error(
        `unable to fetch metrics from custom metrics API: the custom metrics API server returned ${items.length} ` +
          'results when we asked for exactly one',
      )
    }
    return milli(only.value)
  }

  /** All values of a metric of something else, in thousandths. */
  async external(metric: string, metricSelector: string): Promise<readonly number[]> {
    const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${this.#namespace}/${encodeURIComponent(metric)}?${new URLSearchParams({ labelSelector: metricSelector })}`
    const items = await this.#list<MetricValue>(path, `${metric}.external.metrics.k8s.io`, 'external metrics API')
    return items.map(({ value }) => milli(value))
  }

  async #custom(place: string, labelSelector: string, metricLabelSelector: string): Promise<readonly MetricValue[]> {
    const group = 'custom.metrics.k8s.io'
    const api = 'custom metrics API'
    const [version] = await versionsOf(this.#client, group).catch(fetchFailed(api))
    if (!version) throw new Error(`unable to fetch metrics from ${api}: no custom metrics API (${group}) registered`)
    const query = new URLSearchParams({
      ...(labelSelector && { labelSelector }),
      ...(metricLabelSelector && { metricLabelSelector }),
    })
    const path = `/apis/${group}/${version}/namespaces/${this.#namespace}/${place}?${query}`
    const { items } = await this.#client.read<List<MetricValue>>(path).catch(fetchFailed(api, place))
    return items ?? []
  }

  async #list<T>(path: string, what: string, api: string): Promise<readonly T[]> {
    const { items = [] } = await this.#client.read<List<T>>(path).catch(fetchFailed(api, what))
    if (items.length === 0) throw new Error(`no metrics returned from ${api}`)
    return items
  }
}

/** Rejects in the words of Kubernetes' own client: not all that answers does so with a Status. */
const fetchFailed =
  (api: string, what = '') =>
  (error: unknown): never => {
    throw new Error(`unable to fetch metrics from ${api}: ${refusalText(error, what)}`)
  }
