/** Kubernetes' library of lists: `[1, 2].isSorted()`, `names.indexOf('x')`. */
import { compare, equals } from '../../evaluation/equality.ts'
import type { FunctionDeclaration, Library, Overload } from '../../library.ts'
import { declare, member, plus, times } from '../../standard/declare.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  type SimpleType,
  stringType,
  timestampType,
  typeParameter,
  uintType,
} from '../../types.ts'
import { CelError, type CelList, Duration, UInt, type Value } from '../../values.ts'
import { listOf } from '../arguments.ts'
import { type Costs, one, scanEstimate, sizeEstimate, traversal } from '../costs.ts'

/** Types with an order. */
export const comparableTypes: readonly SimpleType[] = [
  intType,
  uintType,
  doubleType,
  boolType,
  durationType,
  timestampType,
  stringType,
  bytesType,
]

/** The cost of traversing a list with its strings, or of scanning a string. */
export const traversalCosts: Costs = {
  cost: ([list]) => (list === undefined ? 0 : traversal(list)),
  estimate: ([list]) => {
    if (list?.type.kind !== 'list') return { cost: scanEstimate(sizeEstimate(list)) }
    const { kind } = list.type.element
    const element = kind === 'string' || kind === 'bytes' ? plus(one, scanEstimate(list.elements.size)) : one
    return { cost: times(list.size, element) }
  },
}

function isSorted(list: CelList): boolean {
  for (let i = 1; i < list.size; i++) if (compare(list.at(i - 1), list.at(i)) > 0) return false
  return true
}

/** Returns the first minimum (`sign` -1) or maximum (1). */
function best(list: CelList, name: string, sign: 1 | -1): Value {
  if (list.size === 0) throw new CelError(`${name} called on empty list`)
  let found = list.at(0)
  for (const item of list) if (compare(item, found) * sign > 0) found = item
  return found
}

function ranged(value: bigint, type: 'int' | 'uint'): bigint {
  if (type === 'uint' && BigInt.asUintN(64, value) !== value) throw new CelError('unsigned integer overflow')
  if (type === 'int' && BigInt.asIntN(64, value) !== value) throw new CelError('integer overflow')
  return value
}

/** Adds an item to the sum. Throws CelError on overflow or for different types. */
function added(sum: Value, item: Value): Value {
  if (typeof sum === 'bigint' && typeof item === 'bigint') return ranged(sum + item, 'int')
  if (sum instanceof UInt && item instanceof UInt) return new UInt(ranged(sum.value + item.value, 'uint'))
  if (typeof sum === 'number' && typeof item === 'number') return sum + item
  if (sum instanceof Duration && item instanceof Duration)
    return new Duration(ranged(sum.nanoseconds + item.nanoseconds, 'int'))
  throw new CelError('no such overload')
}

function sumOf(list: CelList, zero: Value): Value {
  let sum = zero
  for (const item of list) sum = added(sum, item)
  return sum
}

function indexOf(list: CelList, wanted: Value): bigint {
  for (let i = 0; i < list.size; i++) if (equals(list.at(i), wanted)) return BigInt(i)
  return -1n
}

function lastIndexOf(list: CelList, wanted: Value): bigint {
  for (let i = list.size - 1; i >= 0; i--) if (equals(list.at(i), wanted)) return BigInt(i)
  return -1n
}

const summable: readonly (readonly [SimpleType, Value])[] = [
  [intType, 0n],
  [uintType, new UInt(0n)],
  [doubleType, 0],
  [durationType, new Duration(0n)],
]

const forEach = (name: string, of: (type: SimpleType) => Overload): FunctionDeclaration =>
  declare(name, ...comparableTypes.map(of))

const anything = typeParameter('A')

export const listsLibrary: Library = {
  name: 'kubernetes.lists',
  functions: [
    forEach('isSorted', (type) =>
      member(
        `list_${type.kind}_is_sorted_bool`,
        [listType(type)],
        boolType,
        (list) => isSorted(listOf(list)),
        traversalCosts,
      ),
    ),
    forEach('min', (type) =>
      member(
        `list_${type.kind}_min_${type.kind}`,
        [listType(type)],
        type,
        (list) => best(listOf(list), 'min', -1),
        traversalCosts,
      ),
    ),
    forEach('max', (type) =>
      member(
        `list_${type.kind}_max_${type.kind}`,
        [listType(type)],
        type,
        (list) => best(listOf(list), 'max', 1),
        traversalCosts,
      ),
    ),
    declare(
      'sum',
      ...summable.map(([type, zero]) =>
        member(
          `list_${type.kind}_sum_${type.kind}`,
          [listType(type)],
          type,
          (list) => sumOf(listOf(list), zero),
          traversalCosts,
        ),
      ),
    ),
    declare(
      'indexOf',
      member(
        'list_a_index_of_int',
        [listType(anything), anything],
        intType,
        (list, wanted) => indexOf(listOf(list), wanted ?? null),
        traversalCosts,
      ),
    ),
    declare(
      'lastIndexOf',
      member(
        'list_a_last_index_of_int',
        [listType(anything), anything],
        intType,
        (list, wanted) => lastIndexOf(listOf(list), wanted ?? null),
        traversalCosts,
      ),
    ),
  ],
}
