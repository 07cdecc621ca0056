/** The addresses of node ports: those of this machine in the ranges of `--nodeport-addresses`. */
import type { NetworkInterfaceInfo } from 'node:os'
import { parseCidr } from '../../../lib/cidr.ts'
import type { NodePortAddresses } from '../modes/mode-options.ts'
import type { IpFamily } from '../picture/service-port.ts'

export type Interfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>

/**
 * Returns a function that reads the addresses of now. No range of the family, or one of all addresses, selects all;
 * `primary` selects `nodeAddress`, unless it is loopback: the Node has no address of the family.
 */
export function nodePortAddresses(
  ranges: readonly string[],
  family: IpFamily,
  nodeAddress: string,
  interfaces: Interfaces,
): () => NodePortAddresses {
  const ofFamily = ranges.flatMap((range) => {
    if (range === 'primary' && isLoopback(nodeAddress)) return []
    const cidr = parseCidr(range === 'primary' ? `${nodeAddress}/${family === 4 ? 32 : 128}` : range)
    return cidr?.family === family ? [cidr] : []
  })
  const onlyPrimary = ranges.length === 1 && ranges[0] === 'primary'
  const isAll = !onlyPrimary && (ofFamily.length === 0 || ofFamily.some(({ prefix }) => prefix === 0))
  return () => ({
    isAll,
    addresses: machineAddresses(family, interfaces)
      .filter(({ address, internal }) =>
        // The interface has 127.0.0.1/8; only a range that names loopback serves it.
        isAll ? !internal : ofFamily.some((range) => range.prefix > 0 && contains(range, address)),
      )
      .map(({ address }) => address),
  })
}

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

function machineAddresses(family: IpFamily, interfaces: Interfaces): NetworkInterfaceInfo[] {
  const all = Object.values(interfaces()).flatMap((list) => list ?? [])
  const found = all.filter((each) => each.family === `IPv${family}` && !each.address.toLowerCase().startsWith('fe80:'))
  return [...new Map(found.map((each) => [each.address, each])).values()]
}

function contains(range: NonNullable<ReturnType<typeof parseCidr>>, address: string): boolean {
  const own = parseCidr(`${address}/${range.prefix}`)
  return own?.family === range.family && own.base === range.base
}
