/** Keeps ranges of cluster IPs from going while their addresses are in use, and says whether they are ready. */
import { type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { ipAddresses, type ServiceCIDR, serviceCIDRs } from '../../client/kinds.ts'
import { mayGo } from './service-ranges.ts'

const finalizer = 'networking.k8s.io/service-cidr-finalizer'
/** So long after its deletion a range stays: who gives addresses has heard of it by then. Milliseconds. */
const graceMs = 10_000

interface Readiness {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const isReady: Readiness = { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' }
const isHeld: Readiness = {
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
}

/** `now` is in milliseconds since the epoch. */
export const serviceCidrController = (now: () => number): Controller => ({
  name: 'service-cidr-controller',
  component: 'service-cidrs-controller',
  watches: [
    // Any range may hold what another lets go.
    watch({
      resource: serviceCIDRs,
      keys: ({ metadata }, caches) => [metadata.name ?? '', ...leaving(caches.all(serviceCIDRs))],
    }),
    watch({ resource: ipAddresses, keys: (_address, caches) => leaving(caches.all(serviceCIDRs)) }),
  ],
  async reconcile(name, context) {
    const { caches, client, requeue } = context
    const cidr = caches.get(serviceCIDRs, '', name)
    if (!cidr) return
    const { finalizers = [], deletionTimestamp } = cidr.metadata
    const isHolding = finalizers.includes(finalizer)
    if (!deletionTimestamp) {
      const held = isHolding
        ? cidr
        : await client.update(serviceCIDRs, {
            ...cidr,
            metadata: { ...cidr.metadata, finalizers: [...finalizers, finalizer] },
          })
      return tell(held, isReady, context)
    }
    if (!isHolding) return
    if (!mayGo(cidr, caches.all(serviceCIDRs), caches.all(ipAddresses))) return tell(cidr, isHeld, context)
    const leftMs = Date.parse(deletionTimestamp) + graceMs - now()
    if (leftMs > 0) return requeue(name, leftMs)
    await client.update(serviceCIDRs, {
      ...cidr,
      metadata: { ...cidr.metadata, finalizers: finalizers.filter((one) => one !== finalizer) },
    })
  },
})

function* leaving(all: Iterable<ServiceCIDR>): Generator<string> {
  for (const { metadata } of all) if (metadata.deletionTimestamp) yield metadata.name ?? ''
}

/** Writes the condition Ready, if it says something else. */
async function tell(cidr: ServiceCIDR, readiness: Readiness, { client, events }: ReconcileContext): Promise<void> {
  const conditions = cidr.status?.conditions ?? []
  const last = conditions.find(({ type }) => type === 'Ready')
  if (last?.status === readiness.status && last.message === readiness.message) return
  const ready = { type: 'Ready', ...readiness, lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z` }
  const status = { ...cidr.status, conditions: [...conditions.filter(({ type }) => type !== 'Ready'), ready] }
  try {
    await client.updateStatus(serviceCIDRs, { ...cidr, status })
  } catch (error) {
    if (readiness === isReady)
      events.record(
        cidr,
        'Warning',
        'KubernetesServiceCIDRError',
        'The ServiceCIDR Status can not be set to Ready=True',
      )
    throw error
  }
}
