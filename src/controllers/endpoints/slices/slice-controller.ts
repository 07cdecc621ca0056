/** Maintains the EndpointSlices of Services with a selector: the addresses, conditions and ports of their pods. */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { nodes, services } from '../../../client/kinds.ts'
import { batchedQueue } from '../batching.ts'
import { hasSelector, podWatch } from '../service-pods.ts'
import { affectsHints } from './hints/service-hints.ts'
import { wantsTopologyHints } from './hints/topology.ts'
import { ServiceSliceMetrics } from './metrics.ts'
import { sliceManager } from './pod-endpoints.ts'
import { ServiceSlices } from './service-slices.ts'
import { SliceWriter } from './slice-writer.ts'

export interface SliceOptions {
  readonly concurrency: number
  /** Maximum number of endpoints in a slice. */
  readonly max: number
  /** Time for which changes of pods are batched, in ms; 0 for no batching. */
  readonly batchMs: number
  /** Default: metrics that are not exported. */
  readonly metrics?: ServiceSliceMetrics
}

export function sliceController({
  concurrency,
  max,
  batchMs,
  metrics = new ServiceSliceMetrics(),
}: SliceOptions): Controller {
  const { enqueue, start } = batchedQueue(batchMs)
  const writer = new SliceWriter(sliceManager, enqueue, metrics)
  const slices = new ServiceSlices(writer, metrics, max)
  return {
    name: 'endpointslice-controller',
    component: 'endpoint-slice-controller',
    concurrency,
    watches: [
      watch({ resource: services }),
      podWatch(enqueue),
      watch({
        resource: nodes,
        keys: () => [],
        onChange(node, old, context) {
          if (node && !old) for (const key of slices.missingNodes.take(node.metadata.name ?? '')) enqueue(key, context)
          if (!affectsHints(node, old)) return
          slices.hints.resetZoneShares()
          for (const service of context.caches.all(services))
            if (wantsTopologyHints(service)) enqueue(keyOf(service), context)
        },
      }),
      writer.sliceWatch,
    ],
    async reconcile(key, context) {
      start(key)
      const [namespace = '', name = ''] = key.split('/')
      const service = context.caches.get(services, namespace, name)
      if (!service) return slices.forget(key)
      if (!hasSelector(service)) return
      const existing = writer.slices(key, context.caches)
      if (!existing) return metrics.countSync('stale')
      try {
        await slices.sync(service, existing, context)
        metrics.countSync('success')
      } catch (error) {
        metrics.countSync('error')
        throw error
      }
    },
  }
}
