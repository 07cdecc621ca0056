/** Facts about this machine that decide where packets go: its addresses and routes. */
import { isIP } from 'node:net'
import { parseCidr, rangeHas } from '../../../lib/cidr.ts'
import type { RunProgram } from '../../iptables/iptables-programs.ts'
import { recordOf, stringOf } from './rules/nft-json.ts'
import type { Machine } from './trace-packet.ts'

/** @param addresses all addresses of interfaces */
export async function readMachine(run: RunProgram, addresses: readonly string[], family: 4 | 6): Promise<Machine> {
  const routes = await run('ip', ['-j', `-${family}`, 'route', 'show']).then(parseRoutes, () => [])
  return {
    isLocal: (address) => address.startsWith('127.') || address === '::1' || addresses.includes(address),
    interfaceTo: (address) => interfaceTo(routes, address),
  }
}

interface Route {
  readonly range: string
  readonly bits: number
  readonly interface: string
}

/** Reads `ip -j route show`. */
function parseRoutes(text: string): Route[] {
  const list: unknown = JSON.parse(text)
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown) => {
    const { dst, dev } = recordOf(item) ?? {}
    const destination = stringOf(dst)
    const range = destination.includes('/') ? destination : `${destination}/${isIP(destination) === 6 ? 128 : 32}`
    const bits = destination === 'default' ? 0 : parseCidr(range)?.prefix
    return bits === undefined ? [] : [{ range: destination === 'default' ? '' : range, bits, interface: stringOf(dev) }]
  })
}

/** By the longest prefix that has the address. */
function interfaceTo(routes: readonly Route[], address: string): string | undefined {
  const matching = routes.filter(({ range }) => range === '' || rangeHas(range, address))
  return matching.sort((a, b) => b.bits - a.bits)[0]?.interface
}
