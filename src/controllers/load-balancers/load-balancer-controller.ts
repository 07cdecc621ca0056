/**
 * Gives each Service of type LoadBalancer an address of a pool, and takes it back when the type changes or the Service
 * is deleted. Services with a `loadBalancerClass` belong to others. kube-proxy serves the addresses.
 */
import { type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { type Service, services } from '../../client/kinds.ts'
import { hasFinalizer, withFinalizer, withoutFinalizer } from '../../client/objects/finalizers.ts'
import { ignoreNotFound } from '../../client/rest/api-errors.ts'
import type { Cidr } from '../../lib/cidr.ts'
import { messageOf } from '../../lib/message-of.ts'
import { chooseAddresses, isIn } from './address-pools.ts'

const finalizer = 'service.kubernetes.io/load-balancer-cleanup'
/** Time in ms until a Service without an address is tried again. */
const retryMs = 30_000

const wantsAddress = ({ spec, metadata }: Service): boolean =>
  spec?.type === 'LoadBalancer' && !spec.loadBalancerClass && !metadata.deletionTimestamp

const addressesOf = ({ status }: Service): string[] =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])

export function loadBalancerController(pools: readonly Cidr[]): Controller {
  const addresses = new LoadBalancerAddresses(pools)
  return {
    name: 'service-lb-controller',
    component: 'service-controller',
    watches: [
      watch({
        resource: services,
        when: (service, old) => [service, old].some((one) => one?.spec?.type === 'LoadBalancer' || isMarked(one)),
        onChange: (service, old) => addresses.observe(service, old),
      }),
    ],
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const service = context.caches.get(services, namespace, name)
      if (!service) return
      if (wantsAddress(service)) await addresses.ensure(key, service, context)
      else if (isMarked(service) && addresses.isOwner(service)) await release(service, context)
    },
  }
}

class LoadBalancerAddresses {
  readonly #pools: readonly Cidr[]
  /** Addresses that were written and are not in the cache yet, by Service. */
  readonly #pending = new Map<string, readonly string[]>()

  constructor(pools: readonly Cidr[]) {
    this.#pools = pools
  }

  /** Forgets what the cache shows. */
  observe(service: Service | undefined, old: Service | undefined): void {
    const key = keyOf((service ?? old)!)
    const written = this.#pending.get(key)
    if (!service || written?.join() === addressesOf(service).join()) this.#pending.delete(key)
  }

  /** A class that is set while the type changes leaves the finalizer to its own controller. */
  isOwner(service: Service): boolean {
    const addresses = addressesOf(service)
    return addresses.length === 0 || addresses.some((address) => this.#pools.some((pool) => isIn(address, pool)))
  }

  async ensure(key: string, service: Service, { client, caches, events, requeue }: ReconcileContext): Promise<void> {
    const { spec } = service
    const current = addressesOf(service)
    const wanted = { families: spec?.ipFamilies ?? ['IPv4'], requested: spec?.loadBalancerIP, current }
    let addresses: readonly string[]
    try {
      addresses = chooseAddresses(this.#pools, wanted, this.#takenByOthers(key, caches.all(services)))
    } catch (error) {
      const message = `Error syncing load balancer: failed to ensure load balancer: ${messageOf(error)}`
      events.record(service, 'Warning', 'SyncLoadBalancerFailed', message)
      requeue(key, retryMs, { isRealTime: true })
      return
    }
    if (isMarked(service) && addresses.join() === current.join()) return
    events.record(service, 'Normal', 'EnsuringLoadBalancer', 'Ensuring load balancer')
    this.#pending.set(key, addresses)
    const ingress = addresses.map((ip) => ({ ip, ipMode: 'VIP' }))
    const status = { ...service.status, loadBalancer: { ingress } }
    await client.updateStatus(services, { ...withFinalizer(service, finalizer), status })
    events.record(service, 'Normal', 'EnsuredLoadBalancer', 'Ensured load balancer')
  }

  #takenByOthers(key: string, all: Iterable<Service>): Set<string> {
    const taken = new Set<string>()
    for (const service of all) {
      const other = keyOf(service)
      if (other === key) continue
      for (const address of [...addressesOf(service), ...(this.#pending.get(other) ?? [])]) taken.add(address)
    }
    return taken
  }
}

async function release(service: Service, { client, events }: ReconcileContext): Promise<void> {
  events.record(service, 'Normal', 'DeletingLoadBalancer', 'Deleting load balancer')
  const status = { ...service.status, loadBalancer: {} }
  await client.updateStatus(services, { ...withoutFinalizer(service, finalizer), status }).catch(ignoreNotFound)
  events.record(service, 'Normal', 'DeletedLoadBalancer', 'Deleted load balancer')
}

const keyOf = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`
const isMarked = (service: Service | undefined): boolean => service !== undefined && hasFinalizer(service, finalizer)
