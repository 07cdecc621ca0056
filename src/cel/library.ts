/**
 * A library is data: functions with their overloads, macros, constants and types. An environment consists of libraries.
 * Costs are those of cel-go: one per call by default.
 */
import type { AstFactory, Expr } from './syntax/ast.ts'
import type { Type } from './types.ts'
import type { Value } from './values.ts'

export interface Library {
  readonly name: string
  readonly functions?: readonly FunctionDeclaration[]
  readonly macros?: readonly Macro[]
  /** Names with a constant value. */
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
  /** True if it is called as `x.f(y)`; the first parameter is `x`. */
  readonly member?: boolean
  readonly parameters: readonly Type[]
  readonly result: Type
  /** Evaluates a call. There is one argument of the right type (dyn: any value) per parameter. Throws CelError. */
  readonly evaluate: (...args: Value[]) => Value
  /** Returns the cost of a call. Default: 1. A function without a second parameter is called before the call. */
  readonly cost?: (args: readonly Value[], result: Value) => number
  /** Estimates the cost of a call and the size of its result. Default: a cost of 1. */
  readonly estimate?: (args: readonly EstimatedNode[]) => CallEstimate
}

export interface Constant {
  readonly name: string
  readonly type: Type
  readonly value: Value
}

/** An inclusive range. Unknown is { min: 0, max: 2 ** 64 }. */
export interface Estimate {
  readonly min: number
  readonly max: number
}

export interface CallEstimate {
  readonly cost: Estimate
  /** The size of a result that is a list, a map, a string or bytes. */
  readonly size?: Estimate
}

/** An argument in an estimate. */
export interface EstimatedNode {
  readonly type: Type
  /**
   * The size as of `size()`: computed from the expression, or else declared by a type, or else unknown. 1 for scalars.
   */
  readonly size: Estimate
  /** The elements of a list or the values of a map. */
  readonly elements: EstimatedNode
  /** The value, if the argument is a literal. */
  readonly literal: Value | undefined
  /** True if the size is computed or declared. */
  readonly sizeKnown: boolean
}

export interface Macro {
  readonly name: string
  /** True if it is called as `x.name(…)`. */
  readonly member?: boolean
  /** The number of arguments, or `any`. */
  readonly arguments: number | 'any'
  /** Expands a call. Returns undefined if it is an ordinary call. Throws MacroError. */
  readonly expand: (call: MacroCall, make: AstFactory) => Expr | undefined
}

export interface MacroCall {
  /** The expression before the dot, for member macros. */
  readonly target: Expr | undefined
  readonly arguments: readonly Expr[]
}

/** Invalid arguments of a macro. Reported at the position of the argument, or else of the call. */
export class MacroError extends Error {
  readonly at: Expr | undefined
  constructor(message: string, at?: Expr) {
    super(message)
    this.at = at
  }
}
