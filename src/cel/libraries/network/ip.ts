/** Kubernetes' library of IP addresses: `ip('::1').isLoopback()`. */
import { goQuote } from '../../../lib/go/go-quote.ts'
import * as net from '../../../machinery/values/ip-address.ts'
import type { Library } from '../../library.ts'
import { declare, member, overload } from '../../standard/declare.ts'
import { boolType, intType, opaqueType, stringType } from '../../types.ts'
import { CelError, OpaqueValue } from '../../values.ts'
import { expectInstance, rethrowAsCelError, succeeds, textOf } from '../arguments.ts'
import { type Sized, scanFirstCosts } from '../costs.ts'

export const ipType = opaqueType('net.IP')

/** An address as a value. */
export class IpValue extends OpaqueValue implements Sized {
  readonly type = ipType
  readonly address: net.IpAddress
  constructor(address: net.IpAddress) {
    super()
    this.address = address
  }
  get sizeInBytes(): number {
    return net.bitLength(this.address) / 8
  }
  equals(other: OpaqueValue): boolean {
    return (
      other instanceof IpValue &&
      other.address.family === this.address.family &&
      other.address.value === this.address.value
    )
  }
}

/** Parses an address. Throws CelError, also for addresses with a zone and IPv4-mapped ones. */
export function parseIp(text: string): IpValue {
  const address = rethrowAsCelError(
    net.IpError,
    () => net.parseIpAddress(text),
    (message) => `IP Address ${goQuote(text)} parse error during conversion from string: ${message}`,
  )
  if (address.zone !== '') throw new CelError(`IP address ${goQuote(text)} with zone value is not allowed`)
  if (net.isMapped(address)) throw new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  return new IpValue(address)
}

const kind = (name: string, id: string, rule: (address: net.IpAddress) => boolean) =>
  declare(
    name,
    member(id, [ipType], boolType, (value) => rule(expectInstance(IpValue, value).address)),
  )

export const ipLibrary: Library = {
  name: 'kubernetes.net.ip',
  types: [ipType],
  functions: [
    declare(
      'ip',
      overload('string_to_ip', [stringType], ipType, (text) => parseIp(textOf(text)), scanFirstCosts()),
    ),
    declare(
      'isIP',
      overload('is_ip', [stringType], boolType, (text) => succeeds(() => parseIp(textOf(text))), scanFirstCosts()),
    ),
    declare(
      'ip.isCanonical',
      overload(
        'ip_is_canonical',
        [stringType],
        boolType,
        (text) => net.ipText(parseIp(textOf(text)).address) === text,
        scanFirstCosts(2),
      ),
    ),
    declare(
      'string',
      overload('ip_to_string', [ipType], stringType, (value) => net.ipText(expectInstance(IpValue, value).address)),
    ),
    declare(
      'family',
      member('ip_family', [ipType], intType, (value) => BigInt(expectInstance(IpValue, value).address.family)),
    ),
    kind('isUnspecified', 'ip_is_unspecified', net.isUnspecified),
    kind('isLoopback', 'ip_is_loopback', net.isLoopback),
    kind('isLinkLocalMulticast', 'ip_is_link_local_multicast', net.isLinkLocalMulticast),
    kind('isLinkLocalUnicast', 'ip_is_link_local_unicast', net.isLinkLocalUnicast),
    kind('isGlobalUnicast', 'ip_is_global_unicast', net.isGlobalUnicast),
  ],
}
