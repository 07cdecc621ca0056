/** The address by which pods reach this server: the default of `--advertise-address`. */
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Family } from '../ranges/address-range.ts'

/**
 * The bind address, or an address of the machine if the bind address is unspecified or loopback. Undefined if the
 * machine has none.
 */
export function advertiseAddress(
  bindAddress: string,
  family: Family,
  interfaces = networkInterfaces(),
): string | undefined {
  const isLocal =
    bindAddress === '0.0.0.0' || bindAddress === '::' || bindAddress === '::1' || bindAddress.startsWith('127.')
  if (!isLocal && isIPv6(bindAddress) === (family === 'IPv6')) return bindAddress
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .find(
      ({ internal, address, family: its }) =>
        !internal && its === family && !address.startsWith('169.254.') && !address.toLowerCase().startsWith('fe80:'),
    )?.address
}
