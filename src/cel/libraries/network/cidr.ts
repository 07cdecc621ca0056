/** Kubernetes' library of address ranges: `cidr('10.0.0.0/8').containsIP('10.1.2.3')`. */
import { goQuote } from '../../../lib/go/go-quote.ts'
import * as net from '../../../machinery/values/ip-address.ts'
import type { Library } from '../../library.ts'
import { declare, member, overload, plus } from '../../standard/declare.ts'
import { boolType, intType, opaqueType, stringType } from '../../types.ts'
import { CelError, OpaqueValue, type Value } from '../../values.ts'
import { expectInstance, rethrowAsCelError, succeeds, textOf } from '../arguments.ts'
import { type Costs, one, type Sized, scanCost, scanEstimate, scanFirstCosts, sizeEstimate, sizeOf } from '../costs.ts'
import { IpValue, ipType, parseIp } from './ip.ts'

export const cidrType = opaqueType('net.CIDR')

/** A range as a value. Comparisons include the bits after the prefix. */
export class CidrValue extends OpaqueValue implements Sized {
  readonly type = cidrType
  readonly range: net.IpRange
  constructor(range: net.IpRange) {
    super()
    this.range = range
  }
  /** The size of the prefix, not of the address. */
  get sizeInBytes(): number {
    return Math.ceil(this.range.bits / 8)
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof CidrValue && net.rangeText(other.range) === net.rangeText(this.range)
  }
}

const failed = 'network address parse error during conversion from string: '

function parseCidr(text: string): CidrValue {
  // Upstream repeats the prefix.
  const range = rethrowAsCelError(
    net.IpError,
    () => net.parseIpRange(text),
    (message) => `${failed}${failed}${message}`,
  )
  if (net.isMapped(range.address))
    throw new CelError(`${failed}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  return new CidrValue(range)
}

const rangeOf = (value: Value | undefined): net.IpRange => expectInstance(CidrValue, value).range

function contains(outer: net.IpRange, inner: net.IpRange): boolean {
  return outer.bits <= inner.bits && net.rangeContains(outer, inner.address)
}

/** The size of an address in bytes: 4 for IPv4, 16 for IPv6. */
const addressBytes = { min: 4, max: 16 }

/** The cost of comparing two addresses up to the prefix, and of parsing a text argument. */
const containsCosts = (argument: 'text' | 'value', more: 'ip' | 'cidr'): Costs => ({
  cost: ([range, other]) => {
    const bytes = sizeOf(range)
    return (
      scanCost(bytes + bytes) +
      (more === 'cidr' ? scanCost(bytes) + 1 : 0) +
      (argument === 'text' ? scanCost(sizeOf(other)) : 0)
    )
  },
  estimate: ([, other]) => {
    const compared = scanEstimate(plus(addressBytes, addressBytes))
    const masked = more === 'cidr' ? plus(plus(compared, scanEstimate(addressBytes)), one) : compared
    return { cost: argument === 'text' ? plus(masked, scanEstimate(sizeEstimate(other))) : masked }
  },
})

export const cidrLibrary: Library = {
  name: 'kubernetes.net.cidr',
  types: [cidrType],
  functions: [
    declare(
      'cidr',
      overload('string_to_cidr', [stringType], cidrType, (text) => parseCidr(textOf(text)), scanFirstCosts()),
    ),
    declare(
      'isCIDR',
      overload('is_cidr', [stringType], boolType, (text) => succeeds(() => parseCidr(textOf(text))), scanFirstCosts()),
    ),
    declare(
      'containsIP',
      member(
        'cidr_contains_ip_string',
        [cidrType, stringType],
        boolType,
        (range, text) => net.rangeContains(rangeOf(range), parseIp(textOf(text)).address),
        containsCosts('text', 'ip'),
      ),
      member(
        'cidr_contains_ip_ip',
        [cidrType, ipType],
        boolType,
        (range, address) => net.rangeContains(rangeOf(range), expectInstance(IpValue, address).address),
        containsCosts('value', 'ip'),
      ),
    ),
    declare(
      'containsCIDR',
      member(
        'cidr_contains_cidr_string',
        [cidrType, stringType],
        boolType,
        (range, text) => contains(rangeOf(range), parseCidr(textOf(text)).range),
        containsCosts('text', 'cidr'),
      ),
      member(
        'cidr_contains_cidr',
        [cidrType, cidrType],
        boolType,
        (range, other) => contains(rangeOf(range), rangeOf(other)),
        containsCosts('value', 'cidr'),
      ),
    ),
    declare(
      'ip',
      member('cidr_ip', [cidrType], ipType, (range) => new IpValue(rangeOf(range).address)),
    ),
    declare(
      'prefixLength',
      member('cidr_prefix_length', [cidrType], intType, (range) => BigInt(rangeOf(range).bits)),
    ),
    declare(
      'masked',
      member('cidr_masked', [cidrType], cidrType, (range) => new CidrValue(net.masked(rangeOf(range)))),
    ),
    declare(
      'string',
      overload('cidr_to_string', [cidrType], stringType, (range) => net.rangeText(rangeOf(range))),
    ),
  ],
}
