/**
 * What a library is: data. Functions with their overloads, macros, constants and types; an environment is made of
 * libraries. Costs are those of cel-go: one for a call, unless an overload says otherwise.
 */
import type { AstFactory, Expr } from './syntax/ast.ts'
import type { Type } from './types.ts'
import type { Value } from './values.ts'

export interface Library {
  readonly name: string
  readonly functions?: readonly FunctionDeclaration[]
  readonly macros?: readonly Macro[]
  /** Names with a value that is known beforehand. */
  readonly constants?: readonly Constant[]
  /** Types that expressions can name, such as `net.IP` in `type(x) == net.IP`. */
  readonly types?: readonly Type[]
}

export interface FunctionDeclaration {
  /** `size`, `math.greatest`, `_+_`. Two libraries may add overloads to one function. */
  readonly name: string
  readonly overloads: readonly Overload[]
}

export interface Overload {
  /** Unique in an environment, as in cel-go: `string_contains_string`. */
  readonly id: string
  /** Called as `x.f(y)`; the first parameter is `x`. */
  readonly member?: boolean
  readonly parameters: readonly Type[]
  readonly result: Type
  /** Gets as many arguments as there are parameters, each of its parameter's type (dyn: any value). Throws CelError. */
  readonly evaluate: (...args: Value[]) => Value
  /** What a call costs at run time, if it is not 1. A function without a second parameter is asked before the call. */
  readonly cost?: (args: readonly Value[], result: Value) => number
  /** What a call may cost, if it is not 1, and how large its result may be. */
  readonly estimate?: (args: readonly EstimatedNode[]) => CallEstimate
}

export interface Constant {
  readonly name: string
  readonly type: Type
  readonly value: Value
}

/** From the least to the most, both included. Unknown is { min: 0, max: 2 ** 64 }. */
export interface Estimate {
  readonly min: number
  readonly max: number
}

export interface CallEstimate {
  readonly cost: Estimate
  /** The size of a result that is a list, a map, a string or bytes. */
  readonly size?: Estimate
}

/** An argument, as an estimate sees it. */
export interface EstimatedNode {
  readonly type: Type
  /**
   * The size, as `size()` tells it: computed from the expression, or else declared by a type, or else unknown; of
   * scalars 1.
   */
  readonly size: Estimate
  /** Of a list its elements, of a map its values. */
  readonly elements: EstimatedNode
  /** The value, if the argument is a literal. */
  readonly literal: Value | undefined
  /** Whether a size is known at all: computed or declared. */
  readonly sizeKnown: boolean
}

export interface Macro {
  readonly name: string
  /** Called as `x.name(…)`. */
  readonly member?: boolean
  /** How many arguments; `any` for whatever comes. */
  readonly arguments: number | 'any'
  /** What the call becomes; undefined: it is an ordinary call after all. Throws MacroError. */
  readonly expand: (call: MacroCall, make: AstFactory) => Expr | undefined
}

export interface MacroCall {
  /** What stands before the dot, for macros that are members. */
  readonly target: Expr | undefined
  readonly arguments: readonly Expr[]
}

/** The arguments of a macro are not what it needs; told at the argument's place (or at the call's). */
export class MacroError extends Error {
  readonly at: Expr | undefined
  constructor(message: string, at?: Expr) {
    super(message)
    this.at = at
  }
}
