/**
 * Which ranges of cluster IPs may go: those whose addresses lie in another range too, or are used by nobody (KEP-1880).
 */
import type { IPAddress, ServiceCIDR } from '../../client/kinds.ts'
import { type IpRange, parseIpAddress, parseIpRange, rangeContains } from '../../machinery/values/ip-address.ts'

const managedBy = 'ipaddress.kubernetes.io/managed-by'
const allocator = 'ipallocator.k8s.io'

const rangesOf = ({ spec }: ServiceCIDR): IpRange[] => (spec?.cidrs ?? []).map(parseIpRange)

const containsRange = (outer: IpRange, inner: IpRange): boolean =>
  outer.bits <= inner.bits && rangeContains(outer, inner.address)

/**
 * Whether no cluster IP would be without a range if `cidr` went. `all` are those that are there, and `addresses` all
 * that are given.
 */
export function mayGo(cidr: ServiceCIDR, all: Iterable<ServiceCIDR>, addresses: Iterable<IPAddress>): boolean {
  const staying = [...all]
    .filter(({ metadata }) => metadata.name !== cidr.metadata.name && !metadata.deletionTimestamp)
    .flatMap(rangesOf)
  const leaving = rangesOf(cidr).filter((range) => !staying.some((other) => containsRange(other, range)))
  if (leaving.length === 0) return true
  for (const { metadata } of addresses) {
    if (metadata.labels?.[managedBy] !== allocator) continue
    const address = parseIpAddress(metadata.name ?? '')
    if (
      leaving.some((range) => rangeContains(range, address)) &&
      !staying.some((range) => rangeContains(range, address))
    )
      return false
  }
  return true
}
