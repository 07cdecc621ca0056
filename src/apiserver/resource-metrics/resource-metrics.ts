/** The objects of metrics.k8s.io, from the samples of nodes. */
import type { V1Node, V1Pod } from '@kubernetes/client-node'
import type { NodeMetrics, PodMetrics, UsageList } from '../../api/metrics/index.ts'
import type { Model, ObjectMeta } from '../../machinery/object.ts'
import { canonicalQuantity } from '../../machinery/values/quantity.ts'
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { NodeSample, Reading } from './node-sample.ts'

type Node = Model<V1Node>
type Pod = Model<V1Pod>

export interface ResourceMetricsOptions {
  /** The usage of a node; undefined if its kubelet does not answer. */
  readonly sample: (node: Node) => Promise<NodeSample | undefined>
  /** The node of a name, if it exists. */
  readonly node: (name: string) => Promise<Node | undefined>
  readonly now: () => number
}

const apiVersion = 'metrics.k8s.io/v1beta1'
/** The interval of kubelets' own measurements, over which they compute rates. */
const window = '10s'

export class ResourceMetrics {
  readonly #options: ResourceMetricsOptions

  constructor(options: ResourceMetricsOptions) {
    this.#options = options
  }

  /** The usage of nodes, in their order. Nodes whose kubelet does not answer are omitted. */
  async nodes(nodes: readonly Node[]): Promise<NodeMetrics[]> {
    const samples = await Promise.all(nodes.map((node) => this.#options.sample(node)))
    return nodes.flatMap(({ metadata }, i) => {
      const reading = samples[i]?.node
      if (!reading) return []
      return [{ ...this.#head('NodeMetrics', metadata), ...measured([reading]), usage: usageOf(reading) }]
    })
  }

  /** The usage of pods, in their order. Only the nodes of these pods are requested. Pods without usage are omitted. */
  async pods(pods: readonly Pod[]): Promise<PodMetrics[]> {
    const names = new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))
    const samples = new Map(
      await Promise.all([...names].map(async (name) => [name, await this.#sampleOf(name)] as const)),
    )
    return pods.flatMap(({ metadata, spec }) => {
      const sample = samples.get(spec?.nodeName ?? '')
      const readings = sample?.pods.get(`${metadata.namespace}/${metadata.name}`)
      if (!readings || readings.size === 0) return []
      const containers = [...readings].map(([name, reading]) => ({ name, usage: usageOf(reading) }))
      return [{ ...this.#head('PodMetrics', metadata), ...measured([...readings.values()]), containers }]
    })
  }

  async #sampleOf(name: string): Promise<NodeSample | undefined> {
    const node = await this.#options.node(name)
    return node && this.#options.sample(node)
  }

  #head(kind: string, { name, namespace, labels }: ObjectMeta) {
    const creationTimestamp = timestamp(this.#options.now())
    return {
      kind,
      apiVersion,
      metadata: { name, ...(namespace && { namespace }), creationTimestamp, ...(labels && { labels }) },
    }
  }
}

/** The time of the oldest reading. */
const measured = (readings: readonly Reading[]) => ({
  timestamp: timestamp(Math.min(...readings.map(({ time }) => time))),
  window,
})

const usageOf = ({ cpuNano, memoryBytes, swapBytes }: Reading): UsageList => ({
  cpu: canonicalQuantity(`${Math.round(cpuNano)}n`),
  memory: bytesQuantity(memoryBytes),
  ...(swapBytes !== undefined && { swap: bytesQuantity(swapBytes) }),
})

/** Without a suffix, bytes would be a decimal quantity. */
const bytesQuantity = (bytes: number): string =>
  bytes % 1024 === 0 ? canonicalQuantity(`${bytes / 1024}Ki`) : `${Math.round(bytes)}`
