/** The subnets that a network has for nodes: for subnet managers that choose them, as the one of etcd. */
import { addressAt, parseCidr } from '../../../lib/cidr.ts'
import type { NetworkConfig, SubnetSettings } from './network-config.ts'

export interface SubnetRange {
  readonly family: 4 | 6
  /** The prefix of a node's subnet. */
  readonly prefix: number
  /** The first address of the first subnet. */
  readonly min: bigint
  /** The first address of the last subnet. */
  readonly max: bigint
}

interface FamilyRules {
  readonly name: '' | 'IPv6'
  readonly bits: number
  /** The longest prefix of a network: it has four subnets with two hosts each. */
  readonly maxNetwork: number
  readonly maxSubnet: number
  /** The default prefix of subnets of a large network. */
  readonly usual: number
}

const rules = {
  4: { name: '', bits: 32, maxNetwork: 28, maxSubnet: 30, usual: 24 },
  6: { name: 'IPv6', bits: 128, maxNetwork: 124, maxSubnet: 126, usual: 64 },
} as const satisfies Record<4 | 6, FamilyRules>

/**
 * The range of a family, with upstream's defaults: the first subnet of the network is not used. Undefined if the family
 * is off.
 * @throws an Error with upstream's message for a setting that is wrong.
 */
export function subnetRange(config: NetworkConfig, family: 4 | 6): SubnetRange | undefined {
  const network = parseCidr((family === 4 ? config.network : config.ipv6Network) ?? '')
  if (!network) return undefined
  const { bits, name } = rules[family]
  const settings = family === 4 ? config.subnets : config.ipv6Subnets
  const prefix = prefixOf(network.prefix, settings, rules[family])
  const size = 1n << BigInt(bits - prefix)
  const end = network.base + (1n << BigInt(bits - network.prefix))
  const bound = (field: 'Min' | 'Max', text: string | undefined, usual: bigint): bigint => {
    if (text === undefined) return usual
    const value = parseCidr(`${text}/${bits}`)
    if (value?.family !== family || value.base < network.base || value.base >= end)
      throw new Error(`${name}Subnet${field} ${text} is not in the range of the ${name}Network`)
    if (value.base % size !== 0n) throw new Error(`${name}Subnet${field} is not on a SubnetLen boundary: ${text}`)
    return value.base
  }
  const min = bound('Min', settings.min, network.base + size)
  const max = bound('Max', settings.max, end - size)
  if (max < min) throw new Error(`${name}SubnetMax ${settings.max} is before ${name}SubnetMin ${settings.min}`)
  return { family, prefix, min, max }
}

/** The subnet at an index: `10.244.3.0/24`. */
export function subnetAt({ family, prefix, min }: SubnetRange, index: bigint): string {
  const base = min + (index << BigInt(rules[family].bits - prefix))
  return `${addressAt({ family, base, prefix }, 0)}/${prefix}`
}

/** How many subnets the range has. */
export const subnetCount = ({ family, prefix, min, max }: SubnetRange): bigint =>
  ((max - min) >> BigInt(rules[family].bits - prefix)) + 1n

function prefixOf(network: number, { length }: SubnetSettings, family: FamilyRules): number {
  if (length !== undefined) {
    if (length > family.maxSubnet) throw new Error(`${family.name}SubnetLen must be less than /${family.maxSubnet + 1}`)
    if (length < network + 2)
      throw new Error(`${family.name}Network must be able to accommodate at least four subnets: ${length} is too short`)
    return length
  }
  if (network > family.maxNetwork)
    throw new Error(`${family.name}Network is too small. Minimum useful network prefix is /${family.maxNetwork}`)
  return network <= family.usual - 2 ? family.usual : network + 2
}
