/** Chooses the subnet of a node among those that no other node has. */
import { parseCidr } from '../../../../lib/cidr.ts'
import type { NetworkConfig } from '../../config/network-config.ts'
import { type SubnetRange, subnetAt, subnetCount, subnetRange } from '../../config/subnet-range.ts'
import type { Subnets } from './subnet-key.ts'

/** As upstream: one of the first free subnets at random, so that nodes that start at one time rarely collide. */
const maxCandidates = 100

/**
 * Returns free subnets. `random` returns from 0 to 1.
 * @throws an Error with a remedy if there are none, and for a range that cannot be divided.
 */
export function chooseSubnets(config: NetworkConfig, taken: readonly Subnets[], random: () => number): Subnets {
  const pick = (family: 4 | 6, ranges: readonly (string | undefined)[]): string | undefined => {
    const range = subnetRange(config, family)
    if (!range) return undefined
    const free = freeSubnets(range, ranges)
    const chosen = free[Math.min(free.length - 1, Math.floor(random() * free.length))]
    if (chosen !== undefined) return chosen
    const field = family === 4 ? '' : 'IPv6'
    throw new Error(
      `out of subnets: ${subnetCount(range)} nodes have all subnets of the ${field}Network; enlarge it, or set a ` +
        `longer ${field}SubnetLen`,
    )
  }
  return {
    subnet: pick(
      4,
      taken.map(({ subnet }) => subnet),
    ),
    ipv6Subnet: pick(
      6,
      taken.map(({ ipv6Subnet }) => ipv6Subnet),
    ),
  }
}

/** True if subnets are in the ranges of the configuration and have its length. */
export function isCompatible(config: NetworkConfig, { subnet, ipv6Subnet }: Subnets): boolean {
  return fits(subnetRange(config, 4), subnet) && fits(subnetRange(config, 6), ipv6Subnet)
}

function fits(range: SubnetRange | undefined, subnet: string | undefined): boolean {
  if (range === undefined || subnet === undefined) return range === undefined && subnet === undefined
  const cidr = parseCidr(subnet)
  return (
    cidr?.family === range.family && cidr.prefix === range.prefix && cidr.base >= range.min && cidr.base <= range.max
  )
}

function freeSubnets(range: SubnetRange, taken: readonly (string | undefined)[]): string[] {
  const others = taken.flatMap((text) => boundsOf(text) ?? [])
  const found: string[] = []
  const count = subnetCount(range)
  for (let index = 0n; index < count && found.length < maxCandidates; index++) {
    const subnet = subnetAt(range, index)
    const own = boundsOf(subnet)
    if (own && !others.some(({ first, end }) => first < own.end && own.first < end)) found.push(subnet)
  }
  return found
}

/** The first address, and the first one after the range. */
function boundsOf(text: string | undefined): { readonly first: bigint; readonly end: bigint } | undefined {
  const cidr = parseCidr(text ?? '')
  if (!cidr) return undefined
  const size = 1n << BigInt((cidr.family === 4 ? 32 : 128) - cidr.prefix)
  return { first: cidr.base, end: cidr.base + size }
}
