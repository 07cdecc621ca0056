/** The state of compiling an expression to closures. */
import type { Checked } from '../checker/check.ts'
import type { Expr } from '../syntax/ast.ts'
import type { Evaluate } from './frame.ts'

export interface Compilation {
  readonly checked: Checked
  /** The slots of the environment's variables in a frame, added on first use. */
  readonly variables: Map<string, number>
  /** The slots of local variables. */
  readonly locals: Map<string, number>[]
  /** Allocates a slot in the frame. */
  claim(): number
  compile(expr: Expr): Evaluate
  /** Compiles an operand whose own read is free: the branch of a conditional, or an index. */
  compileFree(expr: Expr): Evaluate
}
