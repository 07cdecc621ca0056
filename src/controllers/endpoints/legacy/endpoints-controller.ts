/**
 * Keeps the Endpoints of Services with a selector: one object a Service, from before there were slices; some still read
 * it.
 */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { type Endpoints, endpoints, type Service, services } from '../../../client/kinds.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { ignoreNotFound, isConflict, isNamespaceTerminating, messageOf } from '../../api-errors.ts'
import { batches } from '../batches.ts'
import { hasSelector, isHeadless, podsOf, watchedPods } from '../service-pods.ts'
import { TriggerTimes, withTriggerTime } from '../trigger-times.ts'
import { addressCount, maxAddresses, subsetsOf, truncated } from './subsets.ts'

const managedBy = 'endpoints.kubernetes.io/managed-by'
const manager = 'endpoint-controller'
const headless = 'service.kubernetes.io/headless'
const overCapacity = 'endpoints.kubernetes.io/over-capacity'

export interface EndpointsOptions {
  readonly concurrency: number
  /** How long changes of pods are gathered, in milliseconds; 0 for not at all. */
  readonly batchMs: number
}

export function endpointsController({ concurrency, batchMs }: EndpointsOptions): Controller {
  const times = new TriggerTimes()
  const { notice, begin } = batches(batchMs)
  /** Services that went while this ran: their Endpoints go too, whoever made them. */
  const gone = new Set<string>()
  return {
    name: 'endpoints-controller',
    component: manager,
    concurrency,
    watches: [
      watch({
        resource: services,
        onChange: (service, before) => {
          if (!service && before) gone.add(`${before.metadata.namespace}/${before.metadata.name}`)
        },
      }),
      watchedPods(notice),
      watch({
        resource: endpoints,
        keys: () => [],
        // What is there at the start may have lost its Service meanwhile; what goes comes back.
        onChange: (object, before, { requeue }) => {
          const { namespace, name } = (object ?? before)?.metadata ?? {}
          if (!object || !before) requeue(`${namespace}/${name}`)
        },
      }),
    ],
    async reconcile(key, context) {
      begin(key)
      const [namespace = '', name = ''] = key.split('/')
      const service = context.caches.get(services, namespace, name)
      if (!service) {
        times.forget(key)
        const present = context.caches.get(endpoints, namespace, name)
        if (present && (gone.has(key) || present.metadata.labels?.[managedBy] === manager)) {
          await context.client.delete(endpoints, namespace, name, { uid: present.metadata.uid }).catch(ignoreNotFound)
        }
        gone.delete(key)
        return
      }
      gone.delete(key)
      if (hasSelector(service)) await write(service, times, context)
    },
  }
}

async function write(service: Service, times: TriggerTimes, context: ReconcileContext): Promise<void> {
  const { namespace = '', name = '' } = service.metadata
  const selected = podsOf(context.caches, service)
  const time = times.next(`${namespace}/${name}`, service, selected)
  const present = context.caches.get(endpoints, namespace, name)
  const wanted = endpointsOf(service, subsetsOf(service, selected), time, present)
  if (present && isSame(present, wanted)) return
  try {
    if (present) await context.client.update(endpoints, wanted)
    else await context.client.create(endpoints, wanted)
  } catch (error) {
    if (isNamespaceTerminating(error)) return
    // Somebody was faster: it is tried again with what they wrote.
    if (!isConflict(error)) {
      if (present)
        context.events.record(
          wanted,
          'Warning',
          'FailedToUpdateEndpoint',
          `Failed to update endpoint ${namespace}/${name}: ${messageOf(error)}`,
        )
      else
        context.events.record(
          wanted,
          'Warning',
          'FailedToCreateEndpoint',
          `Failed to create endpoint for service ${namespace}/${name}: ${messageOf(error)}`,
        )
    }
    throw error
  }
}

/** The object as it should be; what others have put into the metadata of the present one stays, but for labels. */
export function endpointsOf(
  service: Service,
  subsets: ReturnType<typeof subsetsOf>,
  time: string | undefined,
  present: Endpoints | undefined,
): Endpoints {
  const { namespace, name, labels } = service.metadata
  const { [overCapacity]: _, ...annotations } = withTriggerTime(present?.metadata.annotations, time) ?? {}
  const { [headless]: _headless, ...others } = labels ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      ...(present?.metadata ?? { namespace, name }),
      labels: { ...others, ...(isHeadless(service) && { [headless]: '' }), [managedBy]: manager },
      annotations: { ...annotations, ...(addressCount(subsets) > maxAddresses && { [overCapacity]: 'truncated' }) },
    },
    subsets: truncated(subsets),
  }
}

/** Whether nothing would change but the time of the change. */
function isSame(present: Endpoints, wanted: Endpoints): boolean {
  return (
    semanticallyEqual(present.subsets, wanted.subsets) &&
    semanticallyEqual(present.metadata.labels, wanted.metadata.labels) &&
    present.metadata.annotations?.[overCapacity] === wanted.metadata.annotations?.[overCapacity]
  )
}
