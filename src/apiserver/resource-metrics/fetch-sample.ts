/** Requests the usage of a node from its kubelet. */
import { Agent } from 'node:https'
import type { V1Node } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { fetchDocument } from '../outgoing/index.ts'
import { type KubeletOptions, kubeletBackend } from '../proxy/streaming/index.ts'
import { type NodeSample, parseSample } from './node-sample.ts'

/** As metrics-server, in ms. */
const timeoutMs = 10_000
/** Idle connections are closed after this, in ms. */
const idleMs = 30_000
const target = '/stats/summary?only_cpu_and_memory=true'

export interface SampleSource {
  /** Rejects with an Error, worded as Go's, if the kubelet does not answer in time. */
  fetch(node: Model<V1Node>): Promise<NodeSample>
  close(): void
}

export function kubeletSamples(kubelets: KubeletOptions | undefined): SampleSource {
  const agent = new Agent({ keepAlive: true, timeout: idleMs, maxSockets: 32, maxFreeSockets: 4 })
  return {
    async fetch(node) {
      const backend = { ...kubeletBackend(node, kubelets), agent }
      // Several simulated nodes share an address: the header names the node, as it does for requests by `…/proxy`.
      const headers = {
        'x-forwarded-uri': `/api/v1/nodes/${encodeURIComponent(node.metadata.name ?? '')}/proxy${target}`,
      }
      const { status, body } = await fetchDocument(backend, target, headers, timeoutMs)
      if (status !== 200) throw new Error(`the kubelet has answered with status ${status}: ${body.toString().trim()}`)
      return parseSample(body.toString())
    },
    close: () => agent.destroy(),
  }
}
