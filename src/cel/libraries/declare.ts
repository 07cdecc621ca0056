/** How libraries declare overloads, and how their functions take arguments: checked, so that a wrong one is a fault of the expression. */
import type { FunctionDeclaration, Overload } from '../library.ts'
import type { Type } from '../types.ts'
import { CelError, CelList, type OpaqueValue, type Value } from '../values.ts'
import type { Costs } from './costs.ts'

type Evaluate = Overload['evaluate']

/** `name(…)`. */
export const overload = (id: string, parameters: readonly Type[], result: Type, evaluate: Evaluate, costs: Costs = {}): Overload => ({
  id,
  parameters,
  result,
  evaluate,
  ...costs,
})

/** `x.name(…)`; the first parameter is `x`. */
export const member = (id: string, parameters: readonly Type[], result: Type, evaluate: Evaluate, costs: Costs = {}): Overload => ({
  ...overload(id, parameters, result, evaluate, costs),
  member: true,
})

/** A function and its overloads. */
export const declare = (name: string, ...overloads: readonly Overload[]): FunctionDeclaration => ({ name, overloads })

const noSuchOverload = (): CelError => new CelError('no such overload')

export function textOf(value: Value | undefined): string {
  if (typeof value !== 'string') throw noSuchOverload()
  return value
}

export function intOf(value: Value | undefined): bigint {
  if (typeof value !== 'bigint') throw noSuchOverload()
  return value
}

export function boolOf(value: Value | undefined): boolean {
  if (typeof value !== 'boolean') throw noSuchOverload()
  return value
}

export function listOf(value: Value | undefined): CelList {
  if (!(value instanceof CelList)) throw noSuchOverload()
  return value
}

/** The value as one of a library's own. */
export function own<T extends OpaqueValue>(kind: abstract new (...args: never[]) => T, value: Value | undefined): T {
  if (!(value instanceof kind)) throw noSuchOverload()
  return value
}

/** What `read` says is wrong with a text, of the kind `Fault`, becomes a fault of the expression. */
export function readAs<T>(Fault: abstract new (...args: never[]) => Error, read: () => T, tell: (message: string) => string = (message) => message): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) throw new CelError(tell(error.message))
    throw error
  }
}

/** Whether `read` finds nothing wrong. */
export function succeeds(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}
