/** Names of subnets as keys of etcd, as upstream's flannel writes them: `10.244.1.0-24`, `10.244.1.0-24&fd00::-64`. */
import { addressAt, parseCidr } from '../../../../lib/cidr.ts'
import type { Lease } from '../subnet-manager.ts'

export type Subnets = Pick<Lease, 'subnet' | 'ipv6Subnet'>

/** The last part of the key of subnets. */
export const subnetKey = ({ subnet, ipv6Subnet }: Subnets): string =>
  [subnet, ipv6Subnet].flatMap((range) => (range === undefined ? [] : [range.replace('/', '-')])).join('&')

const pattern = /(\d+\.\d+\.\d+\.\d+)-(\d+)(?:&([a-f\d:]+)-(\d+))?$/

/** Parses the end of a key; undefined if it is no subnet. */
export function parseSubnetKey(key: string): Subnets | undefined {
  const [matched, address, length, address6, length6] = pattern.exec(key) ?? []
  if (matched === undefined) return undefined
  const subnet = rangeOf(address, length)
  const ipv6Subnet = rangeOf(address6, length6)
  if (subnet === undefined || (address6 !== undefined && ipv6Subnet === undefined)) return undefined
  return { subnet, ipv6Subnet }
}

function rangeOf(address: string | undefined, length: string | undefined): string | undefined {
  const cidr = parseCidr(`${address}/${length}`)
  return cidr && `${addressAt(cidr, 0)}/${cidr.prefix}`
}
