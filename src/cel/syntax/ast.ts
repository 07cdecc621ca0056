/** CEL's syntax tree after macro expansion. Operators are calls (`_+_`, `_&&_`, `_[_]`), as in cel-go. */
import type { Value } from '../values.ts'

export type Expr = Literal | Identifier | Select | Call | CreateList | CreateMap | CreateStruct | Comprehension

interface Node {
  /** Unique within an expression. The checker's results refer to it. */
  readonly id: number
  /** The position of errors of this node: an index into the source, for operators that of the operator. */
  readonly position: number
}

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Value
}

/** A name. `.name` (absolute) includes its dot. */
export interface Identifier extends Node {
  readonly kind: 'identifier'
  readonly name: string
}

export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** True for the expansion of `has(operand.field)`. */
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
  /** The indexes of the elements of the form `?x`. */
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
 * A fold: `accumulator` begins as `initial`. For each element or key (with a second variable: index and element, or key
 * and value) it becomes `step`, as long as `condition` is true. The value is `result`.
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

/** Creates nodes at the position of a macro call, with unique ids. */
export interface AstFactory {
  literal(value: Value): Literal
  identifier(name: string): Identifier
  select(operand: Expr, field: string): Select
  /** The expansion of `has(operand.field)`. */
  presence(operand: Expr, field: string): Select
  call(name: string, ...args: Expr[]): Call
  memberCall(name: string, target: Expr, ...args: Expr[]): Call
  list(...elements: Expr[]): CreateList
  map(...entries: (readonly [Expr, Expr])[]): CreateMap
  fold(fold: Omit<Comprehension, 'kind' | 'id' | 'position'>): Comprehension
}

/** The accumulator variable of macros, a name that no source can contain. */
export const accumulatorVariable = '@result'
