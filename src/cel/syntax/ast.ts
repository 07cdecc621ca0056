/**
 * The syntax tree of CEL, after macros have been expanded. Operators are calls (`_+_`, `_&&_`, `_[_]`), as in cel-go.
 */
import type { Value } from '../values.ts'

export type Expr = Literal | Identifier | Select | Call | CreateList | CreateMap | CreateStruct | Comprehension

interface Node {
  /** Unique within an expression; the checker's results are kept by it. */
  readonly id: number
  /** Where faults of this node are shown: an index into the source. Of a call with an operator, the operator's. */
  readonly position: number
}

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Value
}

/** A name; `.name` (absolute) keeps its dot. */
export interface Identifier extends Node {
  readonly kind: 'identifier'
  readonly name: string
}

export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** What `has(operand.field)` becomes. */
  readonly testOnly: boolean
}

export interface Call extends Node {
  readonly kind: 'call'
  readonly function: string
  readonly target?: Expr
  readonly arguments: readonly Expr[]
}

export interface CreateList extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expr[]
  /** Which elements are `?x`. */
  readonly optional: ReadonlySet<number>
}

export interface MapEntry extends Node {
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

export interface CreateMap extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface FieldEntry extends Node {
  readonly field: string
  readonly value: Expr
  readonly optional: boolean
}

export interface CreateStruct extends Node {
  readonly kind: 'struct'
  readonly typeName: string
  readonly entries: readonly FieldEntry[]
}

/**
 * A fold: `accumulator` begins as `initial`; for each element (or key, and with a second variable index and element, or
 * key and value) while `condition` holds, it becomes `step`. The value is `result`.
 */
export interface Comprehension extends Node {
  readonly kind: 'comprehension'
  readonly variable: string
  readonly variable2?: string
  readonly range: Expr
  readonly accumulator: string
  readonly initial: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** Makes nodes at the place of a macro's call, each with an id of its own. */
export interface AstFactory {
  literal(value: Value): Literal
  identifier(name: string): Identifier
  select(operand: Expr, field: string): Select
  /** What `has(operand.field)` becomes. */
  presence(operand: Expr, field: string): Select
  call(name: string, ...args: Expr[]): Call
  memberCall(name: string, target: Expr, ...args: Expr[]): Call
  list(...elements: Expr[]): CreateList
  map(...entries: (readonly [Expr, Expr])[]): CreateMap
  fold(fold: Omit<Comprehension, 'kind' | 'id' | 'position'>): Comprehension
}

/** The variable that macros accumulate in; no source can name it. */
export const accumulatorVariable = '@result'
