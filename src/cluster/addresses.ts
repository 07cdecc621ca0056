/** Where a server can be reached: the names its certificate covers and the host that clients on this machine use. */
import { isIP, isIPv6 } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { defaultServiceRange } from '../apiserver/services/ranges/address-range.ts'
import { addressAt, parseCidr } from '../lib/cidr.ts'
import { ExplainedError } from '../lib/explained-error.ts'

/** What every server of a cluster is called inside it and on its own machine. */
const wellKnownHosts = [
  '127.0.0.1',
  '::1',
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]

const isUnspecified = (address: string): boolean => address === '0.0.0.0' || address === '::'

/** Host names and addresses that the server certificate must be good for. */
export function serverHosts(bindAddress: string, serviceRanges: string): string[] {
  const services = serviceRanges.split(',').map((range) => {
    const cidr = parseCidr(range.trim())
    if (!cidr)
      throw new ExplainedError(
        `--service-cluster-ip-range ${range} is no address range: write it like ${defaultServiceRange}`,
      )
    return addressAt(cidr, 1)
  })
  return [...new Set([...wellKnownHosts, ...services, ...machineHosts(bindAddress)])]
}

/** How other machines know this one, where it listens on `bindAddress`. */
export function machineHosts(bindAddress: string): string[] {
  const own = isUnspecified(bindAddress) ? externalAddresses() : [bindAddress]
  return /^[\w.-]+$/.test(hostname()) ? [...own, hostname()] : own
}

/** The URL for clients on this machine. */
export function localUrl(bindAddress: string, port: number): string {
  const host = bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress === '::' ? '::1' : bindAddress
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** Addresses by which other machines reach this one. Link-local ones carry a zone that no certificate can hold. */
const externalAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && isIP(address) !== 0 && !address.toLowerCase().startsWith('fe80:'))
    .map(({ address }) => address)
