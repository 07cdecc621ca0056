/** What closures are made from. */
import type { Checked } from '../checker/check.ts'
import type { Expr } from '../syntax/ast.ts'
import type { Evaluate } from './frame.ts'

export interface Compilation {
  readonly checked: Checked
  /** The places of the environment's variables in a frame, as they turn up. */
  readonly variables: Map<string, number>
  /** The places of local variables. */
  readonly locals: Map<string, number>[]
  /** Claims a place in the frame. */
  claim(): number
  compile(expr: Expr): Evaluate
  /** An operand whose own reading costs nothing: the branch of a conditional, or an index. */
  compileFree(expr: Expr): Evaluate
}
