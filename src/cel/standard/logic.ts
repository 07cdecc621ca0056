/** Equality, order, membership and the logical operators. Numbers of different types are compared by value. */
import { compare, equals } from '../evaluation/equality.ts'
import { sizeOf } from '../evaluation/sizes.ts'
import type { FunctionDeclaration, Overload } from '../library.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  isOptionalType,
  listType,
  mapType,
  type SimpleType,
  stringType,
  timestampType,
  typeParameter,
  uintType,
} from '../types.ts'
import { CelError, type CelList, type CelMap, type Value } from '../values.ts'
import { comparisonEstimate, declare, fixed, overload, perCharacter, sizeAt } from './declare.ts'

const a = typeParameter('A')
const b = typeParameter('B')

/**
 * Comparing values of a library's own type costs 1, unless they have a size. Upstream's estimate does so for `==` only.
 */
const equalityEstimate: NonNullable<Overload['estimate']> = (args) => {
  const [left, right] = args
  if (left?.type.kind !== 'opaque' || right?.type.kind !== 'opaque' || left.type.name !== right.type.name)
    return comparisonEstimate(args)
  return left.sizeKnown || isOptionalType(left.type) ? comparisonEstimate(args) : { cost: fixed(1) }
}

const numbers: readonly (readonly [string, SimpleType])[] = [
  ['int64', intType],
  ['uint64', uintType],
  ['double', doubleType],
]
const ordered: readonly (readonly [string, SimpleType])[] = [
  ['bool', boolType],
  ...numbers,
  ['string', stringType],
  ['bytes', bytesType],
  ['timestamp', timestampType],
  ['duration', durationType],
]

/** Declares one operator with its overloads: `less_int64`, `less_int64_double`, … */
function order(name: string, operator: string, holds: (order: number) => boolean): FunctionDeclaration {
  const evaluate = (left: Value, right: Value) => holds(compare(left, right))
  const same = ordered.map(
    ([type, its]): Overload =>
      overload(
        `${name}_${type}`,
        [its, its],
        boolType,
        evaluate,
        its === stringType || its === bytesType ? textComparisonCosts : {},
      ),
  )
  const mixed = numbers.flatMap(([left, its]) =>
    numbers
      .filter(([right]) => right !== left)
      .map(([right, other]) => overload(`${name}_${left}_${right}`, [its, other], boolType, evaluate)),
  )
  return declare(operator, ...same, ...mixed)
}

const textComparisonCosts: Pick<Overload, 'cost' | 'estimate'> = {
  cost: (args) => Math.ceil(Math.min(sizeOf(args[0] as Value), sizeOf(args[1] as Value)) * perCharacter),
  estimate: comparisonEstimate,
}

/** The implementation of operators that the evaluator handles itself. */
const builtIn = (): Value => {
  throw new CelError('no such overload')
}

const membershipCosts: Pick<Overload, 'cost' | 'estimate'> = {
  cost: (args) => sizeOf(args[1] as Value),
  estimate: (args) => ({ cost: sizeAt(args, 1) }),
}

export const logic: readonly FunctionDeclaration[] = [
  declare('_?_:_', overload('conditional', [boolType, a, a], a, builtIn)),
  declare('_&&_', overload('logical_and', [boolType, boolType], boolType, builtIn)),
  declare('_||_', overload('logical_or', [boolType, boolType], boolType, builtIn)),
  declare(
    '!_',
    overload('logical_not', [boolType], boolType, (value: boolean) => !value),
  ),
  declare('@not_strictly_false', overload('not_strictly_false', [boolType], boolType, builtIn)),
  declare('_==_', overload('equals', [a, a], boolType, equals, { estimate: equalityEstimate })),
  declare(
    '_!=_',
    overload('not_equals', [a, a], boolType, (left: Value, right: Value) => !equals(left, right), {
      estimate: comparisonEstimate,
    }),
  ),
  order('less', '_<_', (found) => found < 0),
  order('less_equals', '_<=_', (found) => found <= 0),
  order('greater', '_>_', (found) => found > 0),
  order('greater_equals', '_>=_', (found) => found >= 0),
  declare(
    '@in',
    overload(
      'in_list',
      [a, listType(a)],
      boolType,
      (value: Value, list: CelList) => contains(list, value),
      membershipCosts,
    ),
    overload('in_map', [a, mapType(a, b)], boolType, (key: Value, map: CelMap) => map.get(key) !== undefined),
  ),
  declare(
    '_[_]',
    overload('index_list', [listType(a), intType], a, builtIn),
    overload('index_map', [mapType(a, b), a], b, builtIn),
  ),
  declare(
    'dyn',
    overload('to_dyn', [a], dynType, (value: Value) => value),
  ),
]

function contains(list: CelList, value: Value): boolean {
  for (let index = 0; index < list.size; index++) if (equals(list.at(index), value)) return true
  return false
}
