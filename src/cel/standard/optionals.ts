/** Optional values: `optional.of(x)`, `x.orValue(y)`, and the functions of lists and maps that return them. */
import type { FunctionDeclaration } from '../library.ts'
import { boolType, dynType, intType, listType, mapType, optionalType, stringType, typeParameter } from '../types.ts'
import {
  ArrayList,
  CelError,
  CelList,
  CelMap,
  Duration,
  OptionalValue,
  Timestamp,
  UInt,
  type Value,
} from '../values.ts'
import { firstMoment } from './arithmetic.ts'
import { declare, member, overload } from './declare.ts'

const t = typeParameter('T')
const v = typeParameter('V')
const optionalT = optionalType(t)

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === 0n || value === '') return true
  if (value instanceof UInt) return value.value === 0n
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0
  if (value instanceof Duration) return value.nanoseconds === 0n
  // Go's zero time is the start of year 1, not of 1970.
  if (value instanceof Timestamp) return value.nanoseconds === firstMoment
  return value instanceof Uint8Array && value.length === 0
}

/** The implementation of operators that the evaluator handles itself. */
const builtIn = (): Value => {
  throw new CelError('no such overload')
}

function unwrap(list: CelList): ArrayList {
  const found: Value[] = []
  for (const item of list) if (item instanceof OptionalValue && item.value !== undefined) found.push(item.value)
  return new ArrayList(found)
}

const endOf = (list: CelList, index: number): OptionalValue =>
  list.size === 0 ? OptionalValue.none : new OptionalValue(list.at(index))

export const optionals: readonly FunctionDeclaration[] = [
  declare(
    'optional.of',
    overload('optional_of', [t], optionalT, (value: Value) => new OptionalValue(value)),
  ),
  declare(
    'optional.ofNonZeroValue',
    overload('optional_ofNonZeroValue', [t], optionalT, (value: Value) =>
      isZero(value) ? OptionalValue.none : new OptionalValue(value),
    ),
  ),
  declare(
    'optional.none',
    overload('optional_none', [], optionalT, () => OptionalValue.none),
  ),
  declare(
    'hasValue',
    member('optional_hasValue', [optionalT], boolType, ({ value }: OptionalValue) => value !== undefined),
  ),
  declare(
    'value',
    member('optional_value', [optionalT], t, ({ value }: OptionalValue) => {
      if (value === undefined) throw new CelError('optional.none() dereference')
      return value
    }),
  ),
  declare(
    'or',
    member('optional_or_optional', [optionalT, optionalT], optionalT, (one: OptionalValue, other: OptionalValue) =>
      one.value === undefined ? other : one,
    ),
  ),
  declare(
    'orValue',
    member(
      'optional_orValue_value',
      [optionalT, t],
      t,
      ({ value }: OptionalValue, other: Value) => value ?? (value === null ? null : other),
    ),
  ),
  declare('optional.unwrap', overload('optional_unwrap', [listType(optionalT)], listType(t), unwrap)),
  declare('unwrapOpt', member('optional_unwrapOpt', [listType(optionalT)], listType(t), unwrap)),
  declare(
    'first',
    member('list_first', [listType(t)], optionalT, (list: CelList) => endOf(list, 0)),
  ),
  declare(
    'last',
    member('list_last', [listType(t)], optionalT, (list: CelList) => endOf(list, list.size - 1)),
  ),
  declare('_?._', overload('select_optional_field', [dynType, stringType], optionalType(v), builtIn)),
  declare(
    '_[?_]',
    overload('list_optindex_optional_int', [listType(v), intType], optionalType(v), builtIn),
    overload('optional_list_optindex_optional_int', [optionalType(listType(v)), intType], optionalType(v), builtIn),
    overload('map_optindex_optional_value', [mapType(t, v), t], optionalType(v), builtIn),
    overload('optional_map_optindex_optional_value', [optionalType(mapType(t, v)), t], optionalType(v), builtIn),
  ),
  declare(
    '_[_]',
    overload('optional_list_index_int', [optionalType(listType(v)), intType], optionalType(v), builtIn),
    overload('optional_map_index_value', [optionalType(mapType(t, v)), t], optionalType(v), builtIn),
  ),
]
