/**
 * Mirrors manually managed Endpoints (of Services without a selector) to EndpointSlices, for clients that read only
 * those.
 */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { type Endpoints, endpoints, type Service, services } from '../../../client/kinds.ts'
import { isNamespaceTerminating } from '../../api-errors.ts'
import { batchedQueue } from '../batching.ts'
import { reuseSlices } from '../slices/slice.ts'
import { SliceWriter } from '../slices/slice-writer.ts'
import { MirroringMetrics } from './metrics.ts'
import { type MirrorPlan, mirrorManager, planMirror, shouldMirror } from './mirror-plan.ts'

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
        onChange(service, old, { requeue }) {
          const { namespace, name } = (service ?? old)?.metadata ?? {}
          if ((service && requiresLabels(service)) !== (old && requiresLabels(old))) requeue(`${namespace}/${name}`)
        },
      }),
      watch({
        resource: endpoints,
        keys: () => [],
        onChange(object, old, context) {
          const { namespace, name } = (object ?? old)?.metadata ?? {}
          if ((object && shouldMirror(object)) || (old && shouldMirror(old))) enqueue(`${namespace}/${name}`, context)
        },
      }),
      writer.sliceWatch,
    ],
    async reconcile(key, context) {
      const startedAt = performance.now()
      start(key)
      await mirror(key, max, writer, metrics, context).finally(() =>
        metrics.observeSync((performance.now() - startedAt) / 1000),
      )
    },
  }
}

/** Writes the slices of one Endpoints object, or deletes them if it must not be mirrored. */
async function mirror(
  key: string,
  max: number,
  writer: SliceWriter,
  metrics: MirroringMetrics,
  context: ReconcileContext,
): Promise<void> {
  const existing = writer.slices(key, context.caches)
  if (!existing) return
  const [namespace = '', name = ''] = key.split('/')
  const source = context.caches.get(endpoints, namespace, name)
  const service = context.caches.get(services, namespace, name)
  if (!source || !shouldMirror(source) || !service || service.spec?.selector) {
    await writer.apply(key, { create: [], update: [], remove: existing, unchanged: [] }, context)
    return metrics.forget(key)
  }
  const mirrored = planMirror(source, existing, max)
  warnOfSkippedAddresses(source, mirrored, max, context)
  const plan = reuseSlices(mirrored.plan, source)
  metrics.observeSkipped(mirrored.invalid + mirrored.exceeding)
  metrics.observePlan(key, existing, plan, max)
  try {
    await writer.apply(key, source.metadata.deletionTimestamp ? { ...plan, create: [] } : plan, context)
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error
  }
}

function warnOfSkippedAddresses(
  source: Endpoints,
  { invalid, exceeding }: MirrorPlan,
  max: number,
  { events }: ReconcileContext,
): void {
  if (invalid > 0) {
    const message = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`
    events.record(source, 'Warning', 'InvalidIPAddress', message)
  }
  if (exceeding > 0) {
    const message =
      `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ${invalid + exceeding} ` +
      'addresses were skipped'
    events.record(source, 'Warning', 'TooManyAddressesToMirror', message)
  }
}

/** Returns true if the Service's selector requires a label. */
const requiresLabels = ({ spec }: Service): boolean => Object.keys(spec?.selector ?? {}).length > 0
