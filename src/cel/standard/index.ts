/**
 * CEL's standard library, with cel-go's extensions that Kubernetes enables: optionals and two-variable comprehensions.
 */
import type { FunctionDeclaration, Library } from '../library.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  stringType,
  timestampType,
  typeParameter,
  typeType,
  uintType,
} from '../types.ts'
import { CelError, type CelMap, type EntryMap, type Value } from '../values.ts'
import { arithmetic } from './arithmetic.ts'
import { conversions } from './conversions.ts'
import { declare, overload } from './declare.ts'
import { logic } from './logic.ts'
import { optionalMacros, standardMacros, twoVariableMacros } from './macros.ts'
import { optionals } from './optionals.ts'
import { strings } from './strings.ts'
import { times } from './times.ts'

const map = mapType(typeParameter('K'), typeParameter('V'))

/** Called by the macros for maps only, so that the map may be changed in place. */
const mapInsert: FunctionDeclaration = declare(
  'cel.@mapInsert',
  overload('@mapInsert_map_map', [map, map], map, (into: EntryMap, entries: CelMap) => {
    for (const key of entries.keys()) insert(into, key, entries.get(key) as Value)
    return into
  }),
  overload('@mapInsert_map_key_value', [map, typeParameter('K'), typeParameter('V')], map, insert),
)

function insert(into: EntryMap, key: Value, value: Value): EntryMap {
  if (into.get(key) !== undefined) throw new CelError(`insert failed: key ${String(key)} already exists`)
  into.add(key, value)
  return into
}

/** The library of every environment. */
export const standardLibrary: Library = {
  name: 'standard',
  functions: [...logic, ...arithmetic, ...strings, ...conversions, ...times, ...optionals, mapInsert],
  macros: [...standardMacros, ...optionalMacros, ...twoVariableMacros],
  types: [
    boolType,
    bytesType,
    doubleType,
    durationType,
    intType,
    listType(dynType),
    mapType(dynType, dynType),
    nullType,
    stringType,
    timestampType,
    typeType(dynType),
    uintType,
    optionalType(dynType),
  ],
}
