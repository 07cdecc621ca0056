/** metrics.k8s.io: served from the moment at which the cluster has a kubelet. */
import type { V1Node } from '@kubernetes/client-node'
import { metricsResources } from '../../api/metrics/index.ts'
import type { Model } from '../../machinery/object.ts'
import { ensureMetricsReader } from '../bootstrap/index.ts'
import { Informer } from '../registry/informer.ts'
import { kubeletSamples, NodeSampler, ResourceMetrics } from '../resource-metrics/index.ts'
import { component } from './component.ts'

type Node = Model<V1Node>

/** Each kubelet sets it when it registers its node; nodes that only tests and tools create have none. */
const kubeletLabel = 'kubernetes.io/os'

export const resourceMetrics = component({
  name: 'resource metrics',
  needs: ['options', 'registry', 'find', 'apis', 'places', 'writer', 'log'],
  gives: ['resourceMetrics'],
  async start({ options, registry, find, apis, places, writer, log }, lifetime) {
    if (!options.resourceMetrics) return { resourceMetrics: undefined }
    const { nodes } = places
    const source = kubeletSamples(places.kubelets)
    const sampler = new NodeSampler<Node>({ fetch: source.fetch, log, now: Date.now })
    const resourceMetrics = new ResourceMetrics({
      sample: (node) => sampler.sample(node),
      node: async (name) => (await registry.get(nodes, nodes.key('', name)))?.parse<Node>(),
      now: Date.now,
    })
    const serve = async (): Promise<void> => {
      await ensureMetricsReader(find('rbac.authorization.k8s.io/v1/clusterroles'), writer, log)
      apis.setCustom(
        'metrics.k8s.io',
        metricsResources.map((definition) => registry.served(definition)),
      )
    }
    let isServed = false
    const informer = new Informer<boolean>({
      registry,
      resource: nodes,
      read: (object) => object.summary.labels[kubeletLabel] !== undefined,
      changed: (hasKubelet) => {
        if (!hasKubelet || isServed) return
        isServed = true
        informer.stop()
        serve().catch((error) => log(`metrics.k8s.io is not served: ${error}`))
      },
      log,
    })
    lifetime.onEnd(() => source.close())
    lifetime.onEnd(() => informer.stop())
    await informer.start()
    return { resourceMetrics }
  },
})
