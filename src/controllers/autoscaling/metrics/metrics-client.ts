/** Client of the three metrics APIs: resource metrics, custom metrics of pods and objects, external metrics. */
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { goDurationMs } from '../../../lib/go/go-duration.ts'
import { milliValue } from '../../../machinery/values/quantity.ts'
import { clientErrorText } from '../client-error-text.ts'
import { groupResource, type KindMapper, type KindReference, versionsOf } from '../scale-target.ts'

/** The usage of one pod. */
export interface PodMetric {
  /** In thousandths. */
  readonly value: number
  /** In ms since the epoch. */
  readonly at: number
  /** The measured time window, in ms. */
  readonly windowMs: number
}

/** By pod name. */
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

/** The window of custom metrics without one, in ms. */
const defaultWindowMs = 60_000

const milli = (quantity: string): number => Number(milliValue(quantity))

/** Reads metrics of one namespace. Selectors are strings. Rejects with upstream's messages. */
export class MetricsClient {
  readonly #client: RestClient
  readonly #mapper: KindMapper
  readonly #namespace: string

  constructor(client: RestClient, mapper: KindMapper, namespace: string) {
    this.#client = client
    this.#mapper = mapper
    this.#namespace = namespace
  }

  /** Usage of a resource by pod: of all containers or of one. Pods with incomplete container metrics are omitted. */
  async resource(name: string, selector: string, container = ''): Promise<PodMetrics> {
    const path =
      `/apis/metrics.k8s.io/v1beta1/namespaces/${this.#namespace}/` +
      `pods?${new URLSearchParams({ labelSelector: selector })}`
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

  /** A metric of each selected pod. */
  async pods(metric: string, selector: string, metricSelector: string): Promise<PodMetrics> {
    const items = await this.#custom(`pods/*/${encodeURIComponent(metric)}`, selector, metricSelector)
    if (items.length === 0) throw new Error('no metrics returned from custom metrics API')
    return new Map(
      items.map(({ describedObject, timestamp, window, windowSeconds = window, value }) => [
        describedObject?.name ?? '',
        {
          value: milli(value),
          at: Date.parse(timestamp),
          windowMs: windowSeconds === undefined ? defaultWindowMs : windowSeconds * 1000,
        },
      ]),
    )
  }

  /** A metric of one object, in thousandths. */
  async object(metric: string, reference: KindReference, metricSelector: string): Promise<number> {
    const found = await this.#mapper.find(this.#client, reference).catch(fetchFailed('custom metrics API'))
    // An autoscaler may read only its own namespace, regardless of the given name.
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

  /** All values of an external metric, in thousandths. */
  async external(metric: string, metricSelector: string): Promise<readonly number[]> {
    const path =
      `/apis/external.metrics.k8s.io/v1beta1/namespaces/${this.#namespace}/` +
      `${encodeURIComponent(metric)}?${new URLSearchParams({ labelSelector: metricSelector })}`
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

  async #list<T>(path: string, resource: string, api: string): Promise<readonly T[]> {
    const { items = [] } = await this.#client.read<List<T>>(path).catch(fetchFailed(api, resource))
    if (items.length === 0) throw new Error(`no metrics returned from ${api}`)
    return items
  }
}

/** Rejects with upstream's message. */
const fetchFailed =
  (api: string, resource = '') =>
  (error: unknown): never => {
    throw new Error(`unable to fetch metrics from ${api}: ${clientErrorText(error, resource)}`)
  }
