/** The addresses of a server: the host names of its certificate and the URL for clients on this machine. */
import { isIP, isIPv6 } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { defaultServiceRange } from '../../apiserver/services/ranges/address-range.ts'
import { addressAt, parseCidr } from '../../lib/cidr.ts'
import { ExplainedError } from '../../lib/explained-error.ts'

/** The host names and addresses of the API server inside the cluster and on its own machine. */
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

/** Returns the host names and addresses that the server certificate must cover. */
export function serverHosts(bindAddress: string, serviceRanges: string): string[] {
  const services = serviceRanges.split(',').map((range) => {
    const cidr = parseCidr(range.trim())
    if (!cidr)
      throw new ExplainedError(
        `--service-cluster-ip-range ${range} is not an address range: write it like ${defaultServiceRange}`,
      )
    return addressAt(cidr, 1)
  })
  return [...new Set([...wellKnownHosts, ...services, ...machineHosts(bindAddress)])]
}

/** Returns the names by which other machines reach this one if it listens on `bindAddress`. */
export function machineHosts(bindAddress: string): string[] {
  const own = isUnspecified(bindAddress) ? externalAddresses() : [bindAddress]
  return /^[\w.-]+$/.test(hostname()) ? [...own, hostname()] : own
}

/** Returns the URL for clients on this machine. */
export function localUrl(bindAddress: string, port: number): string {
  const host = bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress === '::' ? '::1' : bindAddress
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/**
 * Addresses at which other machines reach this one. Without link-local ones, whose zone a certificate cannot contain.
 */
const externalAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && isIP(address) !== 0 && !address.toLowerCase().startsWith('fe80:'))
    .map(({ address }) => address)
