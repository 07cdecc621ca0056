/** Kubernetes' library of quantities: `quantity('50k').add(20).isLessThan(quantity('1M'))`. */
import { parseQuantity, QuantityError } from '../../machinery/values/quantity.ts'
import type { Library } from '../library.ts'
import { declare, member, overload } from '../standard/declare.ts'
import { boolType, doubleType, intType, opaqueType, stringType } from '../types.ts'
import { CelError, OpaqueValue, type Value } from '../values.ts'
import { expectInstance, intOf, rethrowAsCelError, succeeds, textOf } from './arguments.ts'
import { scanFirstCosts } from './costs.ts'

export const quantityType = opaqueType('kubernetes.Quantity')

const giga = 1_000_000_000n

/**
 * An amount in billionths. Upstream stores it as a 64-bit number with the power of ten `scale`: only such amounts
 * without fractional digits count as integers (`1000m` does not). Undefined: upstream stores it with arbitrary
 * precision.
 */
class QuantityValue extends OpaqueValue {
  readonly type = quantityType
  readonly nano: bigint
  readonly scale: number | undefined
  constructor(nano: bigint, scale: number | undefined) {
    super()
    this.nano = nano
    this.scale = scale
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && this.nano === other.nano
  }
}

const shape = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?(?:([numkMGTPE])|([KMGTPE])i|[eE]([+-]?[0-9]+))?$/

/** The number of digits that always fit into 64 bits, with decimal and with binary suffixes. */
const decimalDigits = 18
const binaryDigits = 15

/** Parses amounts that upstream stores as a 64-bit number and a power of ten. Unlike others, they are not capped. */
function shortAmount(text: string): QuantityValue | undefined {
  const match = shape.exec(text)
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', decimal, binary, power] = match
  const digits = BigInt(
    `${sign === '-' ? '-' : ''}${whole.slice(0, 2 * decimalDigits)}${fraction.slice(0, decimalDigits)}`.replace(
      /^-?$/,
      '0',
    ),
  )
  const length = Math.max(1, whole.length) + fraction.length
  if (binary !== undefined) {
    const exponent = 10 * ('KMGTPE'.indexOf(binary) + 1)
    const room = binaryDigits - length - Math.trunc((exponent * 3) / 10) - 1
    return fraction === '' && room >= 0 ? new QuantityValue((digits << BigInt(exponent)) * giga, 0) : undefined
  }
  const scale = (power === undefined ? (decimalPowers[decimal ?? ''] ?? 0) : Number(power)) - fraction.length
  return length <= decimalDigits && scale >= -9 && scale <= maxScale
    ? new QuantityValue(digits * 10n ** BigInt(scale + 9), scale)
    : undefined
}

/** Larger powers would need too many digits. */
const maxScale = 64

const decimalPowers: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }

/** Parses a quantity. Throws CelError. */
export function parseQuantityValue(text: string): QuantityValue {
  const { nano } = rethrowAsCelError(QuantityError, () => parseQuantity(text))
  return shortAmount(text) ?? new QuantityValue(nano, undefined)
}
const ofInt = (value: Value | undefined): QuantityValue => new QuantityValue(intOf(value) * giga, 0)
const quantity = (value: Value | undefined): QuantityValue => expectInstance(QuantityValue, value)

/** Returns the amount at a scale, if it fits into 64 bits. */
function amountAt({ nano }: QuantityValue, scale: number): bigint | undefined {
  const shift = BigInt(Math.abs(scale + 9))
  const amount = scale + 9 >= 0 ? nano / 10n ** shift : nano * 10n ** shift
  return BigInt.asIntN(64, amount) === amount ? amount : undefined
}

function sum(a: QuantityValue, b: QuantityValue): QuantityValue {
  const nano = a.nano + b.nano
  if (a.scale === undefined || b.scale === undefined) return new QuantityValue(nano, undefined)
  const scale = a.nano === 0n ? b.scale : b.nano === 0n ? a.scale : Math.min(a.scale, b.scale)
  const result = new QuantityValue(nano, scale)
  return amountAt(result, scale) === undefined ? new QuantityValue(nano, undefined) : result
}

const negated = ({ nano, scale }: QuantityValue): QuantityValue => new QuantityValue(-nano, scale)

const integer = (value: QuantityValue): bigint | undefined =>
  value.scale === undefined || value.scale < 0 ? undefined : amountAt(value, 0)

function asInteger(value: Value | undefined): bigint {
  const whole = integer(quantity(value))
  if (whole === undefined) throw new CelError('cannot convert value to integer')
  return whole
}

function asFloat(value: QuantityValue): number {
  const scale = value.scale ?? -9
  const amount = amountAt(value, scale)
  return amount === undefined
    ? Number(value.nano) * 1e-9
    : scale === 0
      ? Number(amount)
      : Number(amount) * Number(`1e${scale}`)
}

const compare = (a: Value | undefined, b: Value | undefined): number => {
  const x = quantity(a).nano
  const y = quantity(b).nano
  return x < y ? -1 : x > y ? 1 : 0
}

export const quantityLibrary: Library = {
  name: 'kubernetes.quantity',
  types: [quantityType],
  functions: [
    declare(
      'quantity',
      overload(
        'string_to_quantity',
        [stringType],
        quantityType,
        (text) => parseQuantityValue(textOf(text)),
        scanFirstCosts(),
      ),
    ),
    declare(
      'isQuantity',
      overload(
        'is_quantity_string',
        [stringType],
        boolType,
        (text) => succeeds(() => parseQuantityValue(textOf(text))),
        scanFirstCosts(),
      ),
    ),
    // Not a member function, unlike in the documentation.
    declare(
      'sign',
      overload('quantity_sign', [quantityType], intType, (value) =>
        quantity(value).nano > 0n ? 1n : quantity(value).nano < 0n ? -1n : 0n,
      ),
    ),
    declare(
      'isInteger',
      member('quantity_is_integer', [quantityType], boolType, (value) => integer(quantity(value)) !== undefined),
    ),
    declare('asInteger', member('quantity_get_int', [quantityType], intType, asInteger)),
    declare(
      'asApproximateFloat',
      member('quantity_get_float', [quantityType], doubleType, (value) => asFloat(quantity(value))),
    ),
    declare(
      'isGreaterThan',
      member('quantity_is_greater_than', [quantityType, quantityType], boolType, (a, b) => compare(a, b) > 0),
    ),
    declare(
      'isLessThan',
      member('quantity_is_less_than', [quantityType, quantityType], boolType, (a, b) => compare(a, b) < 0),
    ),
    declare(
      'compareTo',
      member('quantity_compare_to', [quantityType, quantityType], intType, (a, b) => BigInt(compare(a, b))),
    ),
    declare(
      'add',
      member('quantity_add', [quantityType, quantityType], quantityType, (a, b) => sum(quantity(a), quantity(b))),
      member('quantity_add_int', [quantityType, intType], quantityType, (a, b) => sum(quantity(a), ofInt(b))),
    ),
    declare(
      'sub',
      member('quantity_sub', [quantityType, quantityType], quantityType, (a, b) =>
        sum(quantity(a), negated(quantity(b))),
      ),
      member('quantity_sub_int', [quantityType, intType], quantityType, (a, b) => sum(quantity(a), negated(ofInt(b)))),
    ),
  ],
}
