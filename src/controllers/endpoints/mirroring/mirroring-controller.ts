/**
 * Mirrors Endpoints that are kept by hand as EndpointSlices, for those who read nothing else: Endpoints of Services
 * without a selector.
 */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { endpoints, services } from '../../../client/kinds.ts'
import { isNamespaceTerminating } from '../../api-errors.ts'
import { batches } from '../batches.ts'
import { recycled } from '../slices/slice.ts'
import { WrittenSlices } from '../slices/written-slices.ts'
import { MirroringMetrics } from './metrics.ts'
import { mirrored, mirrorManager, wantsMirror } from './mirrored-slices.ts'

export interface MirroringOptions {
  readonly concurrency: number
  /** Addresses of a subset that are mirrored at most. */
  readonly max: number
  /** How long changes are gathered, in milliseconds; 0 for not at all. */
  readonly batchMs: number
  /** Counts nothing that anybody sees unless said. */
  readonly metrics?: MirroringMetrics
}

export function mirroringController({
  concurrency,
  max,
  batchMs,
  metrics = new MirroringMetrics(),
}: MirroringOptions): Controller {
  const { notice, begin } = batches(batchMs)
  const written = new WrittenSlices(mirrorManager, notice, metrics)
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
          if ((object && wantsMirror(object)) || (before && wantsMirror(before)))
            notice(`${namespace}/${name}`, context)
        },
      }),
      written.watched,
    ],
    async reconcile(key, context) {
      const began = performance.now()
      await sync(key, context).finally(() => metrics.synced((performance.now() - began) / 1000))
    },
  }

  async function sync(key: string, context: ReconcileContext): Promise<void> {
    begin(key)
    const existing = written.of(key, context.caches)
    if (!existing) return
    const [namespace = '', name = ''] = key.split('/')
    const source = context.caches.get(endpoints, namespace, name)
    const service = context.caches.get(services, namespace, name)
    if (!source || !wantsMirror(source) || !service || service.spec?.selector) {
      await written.carryOut(key, { create: [], update: [], remove: existing, unchanged: [] }, context)
      return metrics.forget(key)
    }
    const { plan, invalid, tooMany } = mirrored(source, existing, max)
    if (invalid > 0)
      context.events.record(
        source,
        'Warning',
        'InvalidIPAddress',
        `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`,
      )
    if (tooMany > 0) {
      const message =
        `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ${invalid + tooMany} ` +
        'addresses were skipped'
      context.events.record(source, 'Warning', 'TooManyAddressesToMirror', message)
    }
    const possible = recycled(plan, source)
    metrics.skipped(invalid + tooMany)
    metrics.planned(key, existing, possible, max)
    try {
      await written.carryOut(key, source.metadata.deletionTimestamp ? { ...possible, create: [] } : possible, context)
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error
    }
  }
}
