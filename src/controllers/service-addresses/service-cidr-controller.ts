/** Protects ServiceCIDRs from deletion while their addresses are in use, and maintains their Ready condition. */
import { type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { ipAddresses, type ServiceCIDR, serviceCIDRs } from '../../client/kinds.ts'
import { rfc3339 } from '../pods/times.ts'
import { canDelete } from './service-ranges.ts'

const finalizer = 'networking.k8s.io/service-cidr-finalizer'
/** Time between the deletion and the removal of a range, in ms, so that allocators can observe the deletion. */
const graceMs = 10_000

interface Readiness {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const readyState: Readiness = { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' }
const inUseState: Readiness = {
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
}

/** `now` returns ms since the epoch. */
export const serviceCidrController = (now: () => number): Controller => ({
  name: 'service-cidr-controller',
  component: 'service-cidrs-controller',
  watches: [
    // A change of any range may affect the deletion of others.
    watch({
      resource: serviceCIDRs,
      keys: ({ metadata }, caches) => [metadata.name ?? '', ...terminatingNames(caches.all(serviceCIDRs))],
    }),
    watch({ resource: ipAddresses, keys: (_address, caches) => terminatingNames(caches.all(serviceCIDRs)) }),
  ],
  async reconcile(name, context) {
    const { caches, client, requeue } = context
    const cidr = caches.get(serviceCIDRs, '', name)
    if (!cidr) return
    const { finalizers = [], deletionTimestamp } = cidr.metadata
    const hasFinalizer = finalizers.includes(finalizer)
    if (!deletionTimestamp) {
      const updated = hasFinalizer
        ? cidr
        : await client.update(serviceCIDRs, {
            ...cidr,
            metadata: { ...cidr.metadata, finalizers: [...finalizers, finalizer] },
          })
      return setReady(updated, readyState, context)
    }
    if (!hasFinalizer) return
    if (!canDelete(cidr, caches.all(serviceCIDRs), caches.all(ipAddresses))) return setReady(cidr, inUseState, context)
    const remainingMs = Date.parse(deletionTimestamp) + graceMs - now()
    if (remainingMs > 0) return requeue(name, remainingMs)
    await client.update(serviceCIDRs, {
      ...cidr,
      metadata: { ...cidr.metadata, finalizers: finalizers.filter((one) => one !== finalizer) },
    })
  },
})

function* terminatingNames(all: Iterable<ServiceCIDR>): Generator<string> {
  for (const { metadata } of all) if (metadata.deletionTimestamp) yield metadata.name ?? ''
}

/** Updates the Ready condition if it differs. */
async function setReady(
  cidr: ServiceCIDR,
  readiness: Readiness,
  { client, events, clock }: ReconcileContext,
): Promise<void> {
  const conditions = cidr.status?.conditions ?? []
  const last = conditions.find(({ type }) => type === 'Ready')
  if (last?.status === readiness.status && last.message === readiness.message) return
  const ready = { type: 'Ready', ...readiness, lastTransitionTime: rfc3339(clock.now()) }
  const status = { ...cidr.status, conditions: [...conditions.filter(({ type }) => type !== 'Ready'), ready] }
  try {
    await client.updateStatus(serviceCIDRs, { ...cidr, status })
  } catch (error) {
    if (readiness === readyState)
      events.record(
        cidr,
        'Warning',
        'KubernetesServiceCIDRError',
        'The ServiceCIDR Status can not be set to Ready=True',
      )
    throw error
  }
}
