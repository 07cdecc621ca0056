/**
 * The language's own functions, types and macros, with what Kubernetes adds from cel-go: optionals, bindings,
 * two-variable loops.
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

/** What the macros for maps call: only they can, so that the map may be grown in place. */
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

/** Every environment begins with this one. */
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
