/**
 * IPAddresses: each cluster IP has one, named after it, written and deleted in the same transaction as its Service. So
 * servers that share a store never allocate an address twice, and no IPAddress is left over.
 */
import { randomUUID } from 'node:crypto'
import type { Service } from '../../api/core/service/index.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import type { Store, Transaction } from '../../storage/store.ts'
import type { CacheView } from '../registry/cache/cache-view.ts'
import { encode } from '../registry/stored-object.ts'
import { type Allocations, addressesOf } from './allocations.ts'

/** The managed-by label of IPAddresses written here; others are not touched. */
const manager = 'ipallocator.k8s.io'
const managedBy = 'ipaddress.kubernetes.io/managed-by'

interface IPAddress extends KubeObject {
  readonly spec?: {
    readonly parentRef?: {
      readonly group?: string
      readonly resource?: string
      readonly namespace?: string
      readonly name?: string
    }
  }
}

function ipAddress(name: string, { metadata }: Service, now: string): KubeObject {
  const family = name.includes(':') ? 'IPv6' : 'IPv4'
  return {
    kind: 'IPAddress',
    apiVersion: 'networking.k8s.io/v1',
    metadata: {
      name,
      uid: randomUUID(),
      creationTimestamp: now,
      labels: { 'ipaddress.kubernetes.io/ip-family': family, [managedBy]: manager },
    },
    spec: { parentRef: { resource: 'services', namespace: metadata.namespace, name: metadata.name } },
  } as Unstructured
}

function belongsTo(object: IPAddress, { metadata }: Service): boolean {
  const { resource, namespace, name } = object.spec?.parentRef ?? {}
  return (
    resource === 'services' &&
    namespace === metadata.namespace &&
    name === metadata.name &&
    object.metadata.labels?.[managedBy] === manager
  )
}

/**
 * The IPAddress operations to commit at the time `now` with a Service that changes from `old` to `service`; either may
 * be absent.
 */
export function withAddresses(
  { resource, objects }: CacheView,
  service: Service | undefined,
  old: Service | undefined,
  now: string,
): Transaction {
  const conditions: Transaction['conditions'][number][] = []
  const operations: Transaction['operations'][number][] = []
  const current = service ? addressesOf(service) : []
  const previous = old ? addressesOf(old) : []
  for (const address of current) {
    const key = resource.key('', address)
    const stored = objects.get(key)
    // An IPAddress created since the allocation belongs to another Service: then the condition must fail.
    if (stored && (previous.includes(address) || belongsTo(stored.parse<IPAddress>(), service!))) continue
    conditions.push({ key, revision: 0 })
    operations.push({ key, value: encode(resource, ipAddress(address, service!, now)) })
  }
  for (const address of previous) {
    const key = resource.key('', address)
    const stored = objects.get(key)
    if (current.includes(address) || !stored || !belongsTo(stored.parse<IPAddress>(), old!)) continue
    conditions.push({ key, revision: stored.revision })
    operations.push({ key, delete: true })
  }
  return { conditions, operations }
}

/**
 * Creates missing IPAddresses of stored Services and deletes those of deleted Services: the store may come from a
 * server that did not write them.
 */
export async function repairAddresses(allocations: Allocations, store: Store, now: string): Promise<void> {
  const { services, ipAddresses } = await allocations.ready()
  const { resource, objects } = ipAddresses
  const repairs: Transaction[] = []
  for (const [key, addresses] of allocations.addresses()) {
    if (addresses.every((address) => objects.get(resource.key('', address)))) continue
    const service = services.objects.get(key)?.parse<Service>()
    repairs.push(withAddresses(ipAddresses, service, service, now))
  }
  for (const stored of objects.slice(resource.range(''))) {
    if (allocations.hasService(stored.name)) continue
    const { metadata, spec } = stored.parse<IPAddress>()
    if (metadata.labels?.[managedBy] !== manager) continue
    const { namespace = '', name = '' } = spec?.parentRef ?? {}
    // Another server may have just written both.
    const key = services.resource.key(namespace, name)
    const service = await store.get(key)
    if (service && addressesOf(JSON.parse(service.value.toString()) as Service).includes(stored.name)) continue
    const conditions = [
      { key, revision: service?.revision ?? 0 },
      { key: stored.key, revision: stored.revision },
    ]
    repairs.push({ conditions, operations: [{ key: stored.key, delete: true }] })
  }
  // Repairs that another server has committed in the meantime fail, which is harmless.
  await Promise.all(repairs.map((repair) => store.commit(repair)))
}
