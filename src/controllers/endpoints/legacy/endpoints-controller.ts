/** Maintains the Endpoints of Services with a selector: one object per Service, the predecessor of EndpointSlices. */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { type Endpoints, endpoints, type Service, services } from '../../../client/kinds.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { ignoreNotFound, isConflict, isNamespaceTerminating, messageOf } from '../../api-errors.ts'
import { batchedQueue } from '../batching.ts'
import { hasSelector, isHeadless, podsOf, podWatch } from '../service-pods.ts'
import { TriggerTimes, withTriggerTime } from '../trigger-times.ts'
import { addressCount, maxAddresses, subsetsOf, truncateSubsets } from './subsets.ts'

const managedBy = 'endpoints.kubernetes.io/managed-by'
const manager = 'endpoint-controller'
const headless = 'service.kubernetes.io/headless'
const overCapacity = 'endpoints.kubernetes.io/over-capacity'

export interface EndpointsOptions {
  readonly concurrency: number
  /** Time for which changes of pods are batched, in ms; 0 for no batching. */
  readonly batchMs: number
}

export function endpointsController({ concurrency, batchMs }: EndpointsOptions): Controller {
  const times = new TriggerTimes()
  const { enqueue, start } = batchedQueue(batchMs)
  /** Services deleted since the start: their Endpoints are deleted too, regardless of their manager. */
  const deletedServices = new Set<string>()
  return {
    name: 'endpoints-controller',
    component: manager,
    concurrency,
    watches: [
      watch({
        resource: services,
        onChange: (service, old) => {
          if (!service && old) deletedServices.add(`${old.metadata.namespace}/${old.metadata.name}`)
        },
      }),
      podWatch(enqueue),
      watch({
        resource: endpoints,
        keys: () => [],
        // At the start, Endpoints may be without a Service; deleted Endpoints must be recreated.
        onChange: (object, old, { requeue }) => {
          const { namespace, name } = (object ?? old)?.metadata ?? {}
          if (!object || !old) requeue(`${namespace}/${name}`)
        },
      }),
    ],
    async reconcile(key, context) {
      start(key)
      const [namespace = '', name = ''] = key.split('/')
      const service = context.caches.get(services, namespace, name)
      if (!service) {
        times.forget(key)
        const existing = context.caches.get(endpoints, namespace, name)
        if (existing && (deletedServices.has(key) || existing.metadata.labels?.[managedBy] === manager)) {
          await context.client.delete(endpoints, namespace, name, { uid: existing.metadata.uid }).catch(ignoreNotFound)
        }
        deletedServices.delete(key)
        return
      }
      deletedServices.delete(key)
      if (hasSelector(service)) await syncEndpoints(service, times, context)
    },
  }
}

async function syncEndpoints(service: Service, times: TriggerTimes, context: ReconcileContext): Promise<void> {
  const { namespace = '', name = '' } = service.metadata
  const selected = podsOf(context.caches, service)
  const time = times.next(`${namespace}/${name}`, service, selected)
  const existing = context.caches.get(endpoints, namespace, name)
  const desired = endpointsOf(service, subsetsOf(service, selected), time, existing)
  if (existing && isSame(existing, desired)) return
  try {
    if (existing) await context.client.update(endpoints, desired)
    else await context.client.create(endpoints, desired)
  } catch (error) {
    if (isNamespaceTerminating(error)) return
    // On a conflict the key is retried with the new object.
    if (!isConflict(error)) {
      if (existing)
        context.events.record(
          desired,
          'Warning',
          'FailedToUpdateEndpoint',
          `Failed to update endpoint ${namespace}/${name}: ${messageOf(error)}`,
        )
      else
        context.events.record(
          desired,
          'Warning',
          'FailedToCreateEndpoint',
          `Failed to create endpoint for service ${namespace}/${name}: ${messageOf(error)}`,
        )
    }
    throw error
  }
}

/** Builds the desired object; keeps the metadata of the existing one except labels. */
export function endpointsOf(
  service: Service,
  subsets: ReturnType<typeof subsetsOf>,
  time: string | undefined,
  existing: Endpoints | undefined,
): Endpoints {
  const { namespace, name, labels } = service.metadata
  const { [overCapacity]: _, ...annotations } = withTriggerTime(existing?.metadata.annotations, time) ?? {}
  const { [headless]: _headless, ...others } = labels ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      ...(existing?.metadata ?? { namespace, name }),
      labels: { ...others, ...(isHeadless(service) && { [headless]: '' }), [managedBy]: manager },
      annotations: { ...annotations, ...(addressCount(subsets) > maxAddresses && { [overCapacity]: 'truncated' }) },
    },
    subsets: truncateSubsets(subsets),
  }
}

/** Returns true if only the trigger time would change. */
function isSame(existing: Endpoints, desired: Endpoints): boolean {
  return (
    semanticallyEqual(existing.subsets, desired.subsets) &&
    semanticallyEqual(existing.metadata.labels, desired.metadata.labels) &&
    existing.metadata.annotations?.[overCapacity] === desired.metadata.annotations?.[overCapacity]
  )
}
