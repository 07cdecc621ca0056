/** Decides if a ServiceCIDR can be deleted: all its used addresses must be in another range too (KEP-1880). */
import type { IPAddress, ServiceCIDR } from '../../client/kinds.ts'
import { type IpRange, parseIpAddress, parseIpRange, rangeContains } from '../../machinery/values/ip-address.ts'

const managedBy = 'ipaddress.kubernetes.io/managed-by'
const allocator = 'ipallocator.k8s.io'

const rangesOf = ({ spec }: ServiceCIDR): IpRange[] => (spec?.cidrs ?? []).map(parseIpRange)

const containsRange = (outer: IpRange, inner: IpRange): boolean =>
  outer.bits <= inner.bits && rangeContains(outer, inner.address)

/** Returns true if every cluster IP has a range without `cidr`. `all`: existing ranges; `addresses`: allocated ones. */
export function canDelete(cidr: ServiceCIDR, all: Iterable<ServiceCIDR>, addresses: Iterable<IPAddress>): boolean {
  const remaining = [...all]
    .filter(({ metadata }) => metadata.name !== cidr.metadata.name && !metadata.deletionTimestamp)
    .flatMap(rangesOf)
  const removed = rangesOf(cidr).filter((range) => !remaining.some((other) => containsRange(other, range)))
  if (removed.length === 0) return true
  for (const { metadata } of addresses) {
    if (metadata.labels?.[managedBy] !== allocator) continue
    const address = parseIpAddress(metadata.name ?? '')
    if (
      removed.some((range) => rangeContains(range, address)) &&
      !remaining.some((range) => rangeContains(range, address))
    )
      return false
  }
  return true
}
