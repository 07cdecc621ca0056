/** Builds the subsets of Endpoints: addresses with the same ports are grouped, without duplicates. */
import type { Endpoints, Pod, Service } from '../../../client/kinds.ts'
import { isReady } from '../../pods/phase.ts'
import { addressesOf, hasAddress, hostnameIn, isHeadless, targetPortOf } from '../service-pods.ts'

export type Subset = NonNullable<Endpoints['subsets']>[number]
type Address = NonNullable<Subset['addresses']>[number]
type Port = NonNullable<Subset['ports']>[number]

/** Maximum number of addresses, which bounds the size of the object. */
export const maxAddresses = 1000

/** One pod's address and ports. */
interface Offer {
  readonly address: Address
  readonly isReady: boolean
  readonly ports: readonly Port[]
}

/** Returns the subsets of a Service's pods, grouped by equal addresses. Independent of the order of pods. */
export function subsetsOf(service: Service, pods: Iterable<Pod>): Subset[] {
  const offers = [...offersOf(service, pods)].sort((a, b) => byAddress(a.address, b.address))
  const byPort = new Map<string, { readonly port: Port | undefined; readonly offers: Offer[] }>()
  for (const offer of offers) {
    // Without ports, addresses are included too.
    for (const port of offer.ports.length > 0 ? offer.ports : [undefined]) {
      const key = JSON.stringify(port) ?? ''
      const known = byPort.get(key)
      if (known) known.offers.push(offer)
      else byPort.set(key, { port, offers: [offer] })
    }
  }
  const byOffers = new Map<string, { readonly ports: Port[]; readonly offers: readonly Offer[] }>()
  for (const [, { port, offers }] of [...byPort].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const key = JSON.stringify(offers.map(({ address, isReady }) => [address.ip, address.targetRef?.uid, isReady]))
    const known = byOffers.get(key) ?? { ports: [], offers }
    if (port) known.ports.push(port)
    byOffers.set(key, known)
  }
  return [...byOffers.values()].map(({ ports, offers }) => {
    const ready = offers.filter((offer) => offer.isReady).map(({ address }) => address)
    const notReady = offers.filter((offer) => !offer.isReady).map(({ address }) => address)
    return {
      ...(ready.length > 0 && { addresses: ready }),
      ...(notReady.length > 0 && { notReadyAddresses: notReady }),
      ...(ports.length > 0 && { ports }),
    }
  })
}

function* offersOf(service: Service, pods: Iterable<Pod>): Generator<Offer> {
  const { ports: servicePorts = [], publishNotReadyAddresses = false, ipFamilies = [] } = service.spec ?? {}
  for (const pod of pods) {
    if (!hasAddress(pod) || (pod.metadata.deletionTimestamp && !publishNotReadyAddresses)) continue
    const family = ipFamilies[0] ?? (familyText(service, pod).includes(':') ? 'IPv6' : 'IPv4')
    const [ip] = addressesOf(pod, family === 'IPv6')
    if (!ip) continue
    const ports = servicePorts.flatMap((port): Port[] => {
      const number = targetPortOf(pod, port)
      const { name, protocol, appProtocol } = port
      return number === undefined
        ? []
        : [{ ...(name && { name }), port: number, ...(protocol && { protocol }), ...(appProtocol && { appProtocol }) }]
    })
    // Only a headless Service may have no ports; otherwise a pod without any of the ports is excluded.
    if (ports.length === 0 && !(servicePorts.length === 0 && isHeadless(service))) continue
    yield {
      address: addressOf(pod, ip, hostnameIn(pod, service)),
      isReady: publishNotReadyAddresses || isReady(pod),
      ports,
    }
  }
}

/** An address of the family to use if the Service has no ipFamilies. */
const familyText = (service: Service, pod: Pod): string =>
  isHeadless(service) ? (pod.status?.podIP ?? '') : (service.spec?.clusterIP ?? '')

function addressOf(
  { metadata: { namespace, name, uid }, spec }: Pod,
  ip: string,
  hostname: string | undefined,
): Address {
  return {
    ip,
    ...(hostname && { hostname }),
    ...(spec?.nodeName && { nodeName: spec.nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
}

const byAddress = (a: Address, b: Address): number => {
  const [x, y] = a.ip === b.ip ? [a.targetRef?.uid ?? '', b.targetRef?.uid ?? ''] : [a.ip, b.ip]
  return x < y ? -1 : x > y ? 1 : 0
}

/** Total number of addresses. */
export const addressCount = (subsets: readonly Subset[]): number =>
  subsets.reduce(
    (sum, { addresses, notReadyAddresses }) => sum + (addresses?.length ?? 0) + (notReadyAddresses?.length ?? 0),
    0,
  )

/** Truncates to `maxAddresses`: ready ones are preferred, and each subset keeps its share. */
export function truncateSubsets(subsets: readonly Subset[]): Subset[] {
  const ready = subsets.reduce((sum, { addresses }) => sum + (addresses?.length ?? 0), 0)
  const total = addressCount(subsets)
  if (total <= maxAddresses) return [...subsets]
  const field = ready > maxAddresses ? 'addresses' : 'notReadyAddresses'
  const [capacity, candidates] = ready > maxAddresses ? [maxAddresses, ready] : [maxAddresses - ready, total - ready]
  let remaining = capacity
  return subsets.map(({ addresses, notReadyAddresses, ports }) => {
    const cut = { addresses, notReadyAddresses }
    const share = Math.min(remaining, Math.ceil(((cut[field]?.length ?? 0) / candidates) * capacity))
    remaining -= share
    const truncated = {
      ...cut,
      ...(field === 'addresses' && { notReadyAddresses: undefined }),
      [field]: cut[field]?.slice(0, share),
    }
    return {
      ...(truncated.addresses?.length && { addresses: truncated.addresses }),
      ...(truncated.notReadyAddresses?.length && { notReadyAddresses: truncated.notReadyAddresses }),
      ...(ports && { ports }),
    }
  })
}
