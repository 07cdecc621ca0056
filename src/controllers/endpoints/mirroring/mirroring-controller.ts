/**
 * Mirrors manually managed Endpoints (of Services without a selector) to EndpointSlices, for clients that read only
 * those.
 */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { endpoints, services } from '../../../client/kinds.ts'
import { isNamespaceTerminating } from '../../api-errors.ts'
import { batchedQueue } from '../batching.ts'
import { reuseSlices } from '../slices/slice.ts'
import { SliceWriter } from '../slices/slice-writer.ts'
import { MirroringMetrics } from './metrics.ts'
import { mirrorManager, planMirror, shouldMirror } from './mirror-plan.ts'

export interface MirroringOptions {
  readonly concurrency: number
  /** Maximum number of mirrored addresses of a subset. */
  readonly max: number
  /** Time for which changes are batched, in ms; 0 for no batching. */
  readonly batchMs: number
  /** Default: metrics that are not exported. */
  readonly metrics?: MirroringMetrics
}

export function mirroringController({
  concurrency,
  max,
  batchMs,
  metrics = new MirroringMetrics(),
}: MirroringOptions): Controller {
  const { enqueue, start } = batchedQueue(batchMs)
  const writer = new SliceWriter(mirrorManager, enqueue, metrics)
  return {
    name: 'endpointslice-mirroring-controller',
    component: 'endpoint-slice-mirroring-controller',
    concurrency,
    watches: [
      watch({
        resource: services,
        keys: () => [],
        onChange(service, before, { requeue }) {
          const { namespace, name } = (service ?? before)?.metadata ?? {}
          const isSelective = (state: typeof service): boolean | undefined =>
            state && Object.keys(state.spec?.selector ?? {}).length > 0
          if (isSelective(service) !== isSelective(before)) requeue(`${namespace}/${name}`)
        },
      }),
      watch({
        resource: endpoints,
        keys: () => [],
        onChange(object, before, context) {
          const { namespace, name } = (object ?? before)?.metadata ?? {}
          if ((object && shouldMirror(object)) || (before && shouldMirror(before)))
            enqueue(`${namespace}/${name}`, context)
        },
      }),
      writer.sliceWatch,
    ],
    async reconcile(key, context) {
      const began = performance.now()
      await sync(key, context).finally(() => metrics.observeSync((performance.now() - began) / 1000))
    },
  }

  async function sync(key: string, context: ReconcileContext): Promise<void> {
    start(key)
    const existing = writer.slices(key, context.caches)
    if (!existing) return
    const [namespace = '', name = ''] = key.split('/')
    const source = context.caches.get(endpoints, namespace, name)
    const service = context.caches.get(services, namespace, name)
    if (!source || !shouldMirror(source) || !service || service.spec?.selector) {
      await writer.apply(key, { create: [], update: [], remove: existing, unchanged: [] }, context)
      return metrics.forget(key)
    }
    const { plan, invalid, exceeding } = planMirror(source, existing, max)
    if (invalid > 0)
      context.events.record(
        source,
        'Warning',
        'InvalidIPAddress',
        `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`,
      )
    if (exceeding > 0) {
      const message =
        `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ${invalid + exceeding} ` +
        'addresses were skipped'
      context.events.record(source, 'Warning', 'TooManyAddressesToMirror', message)
    }
    const possible = reuseSlices(plan, source)
    metrics.observeSkipped(invalid + exceeding)
    metrics.observePlan(key, existing, possible, max)
    try {
      await writer.apply(key, source.metadata.deletionTimestamp ? { ...possible, create: [] } : possible, context)
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error
    }
  }
}
