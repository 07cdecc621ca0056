/** Declared variables, constants, types and functions by name. An environment that extends another shares them. */
import type { FunctionDeclaration, Overload } from '../library.ts'
import type { ObjectType, Type } from '../types.ts'
import type { Value } from '../values.ts'

/** The declaration of a name: a variable, or a constant or type, which has a value. */
export type Declaration = { readonly type: Type; readonly value?: Value }

export interface Declarations {
  readonly names: ReadonlyMap<string, Declaration>
  readonly functions: ReadonlyMap<string, readonly Overload[]>
  /** Types that expressions can construct: `Object{field: value}`. */
  readonly objects: ReadonlyMap<string, ObjectType>
}

/** Adds functions. Overloads replace existing ones with the same id. */
export function withFunctions(
  base: Declarations['functions'],
  declared: readonly FunctionDeclaration[],
): Map<string, readonly Overload[]> {
  const functions = new Map(base)
  for (const { name, overloads } of declared) {
    const ids = new Set(overloads.map(({ id }) => id))
    functions.set(name, [...(functions.get(name) ?? []).filter(({ id }) => !ids.has(id)), ...overloads])
  }
  return functions
}
