/**
 * A compiled expression with its type, the variables and fields that it uses, its estimated cost, and its evaluation.
 */
import type { Checked } from './checker/check.ts'
import { nodes } from './checker/literals.ts'
import { estimateCost } from './cost/estimate.ts'
import { compileExpression } from './evaluation/compile.ts'
import { type Evaluate, Frame } from './evaluation/frame.ts'
import type { Estimate } from './library.ts'
import type { Expr } from './syntax/ast.ts'
import type { Type } from './types.ts'
import { CelError, CostLimitExceeded, type Value } from './values.ts'

/** The default cost limit of one evaluation: Kubernetes' limit per call. */
export const callCostLimit = 1_000_000

export type Outcome =
  | { readonly value: Value; readonly cost: number }
  /** `exceeded` is true if the evaluation reached its cost limit. */
  | { readonly error: string; readonly exceeded: boolean; readonly cost: number }

export interface Program {
  readonly source: string
  readonly type: Type
  /** The environment's variables that it reads, such as `oldSelf`. */
  readonly variables: ReadonlySet<string>
  /** Paths of fields that it reads, beginning with a variable: `object.spec.replicas`. Without their prefixes. */
  readonly fields: ReadonlySet<string>
  /** Computed on first use. */
  readonly estimatedCost: Estimate
  /**
   * Evaluates the expression with the values of variables and a cost limit. Never throws errors of the expression. The
   * function may outlive the program.
   */
  readonly evaluate: (bindings: Bindings, limit?: number) => Outcome
}

/** Values of variables by name. Reading an absent one is an error of the expression. */
export type Bindings = Readonly<Record<string, Value | undefined>>

export function program(source: string, expr: Expr, checked: Checked, sizes: Type | undefined): Program {
  const { evaluate: run, size, variables } = compileExpression(expr, checked)
  let estimated: Estimate | undefined
  return {
    source,
    type: checked.type,
    variables: new Set(variables.keys()),
    fields: fieldsOf(expr, checked),
    get estimatedCost() {
      estimated ??= estimateCost(expr, checked, sizes)
      return estimated
    },
    evaluate: evaluator(run, size, [...variables]),
  }
}

/** A function of its own, so that a reference to the evaluator does not retain the syntax tree and the types. */
function evaluator(
  run: Evaluate,
  size: number,
  places: readonly (readonly [name: string, slot: number])[],
): Program['evaluate'] {
  const empty = new Array<Value | CelError | undefined>(size).fill(undefined)
  const names = places.map(([name]) => name)
  const slots = places.map(([, slot]) => slot)
  return (bindings, limit = callCostLimit) => {
    const frame = new Frame(empty.slice(), limit)
    for (let i = 0; i < names.length; i++) frame.slots[slots[i] as number] = bindings[names[i] as string]
    try {
      const value = run(frame)
      return { value, cost: frame.cost }
    } catch (error) {
      if (error instanceof CelError) return { error: error.message, exceeded: false, cost: frame.cost }
      if (error instanceof CostLimitExceeded) return { error: error.message, exceeded: true, cost: frame.cost }
      // Values that are nested too deeply exhaust the stack.
      if (error instanceof RangeError)
        return { error: `evaluation is too deep: ${error.message}`, exceeded: false, cost: frame.cost }
      throw error
    }
  }
}

function fieldsOf(expr: Expr, checked: Checked): Set<string> {
  const found = new Set<string>()
  const inner = new Set<number>()
  for (const node of nodes(expr)) {
    if (inner.has(node.id)) continue
    const path = fieldPath(node, checked, inner)
    if (path !== undefined) found.add(path)
  }
  return found
}

/** Returns the path of a chain of selections from a variable, and adds its inner nodes to `inner`. */
function fieldPath(expr: Expr, checked: Checked, inner: Set<number>): string | undefined {
  const name = checked.names.get(expr.id)
  if (name) return name.local || name.declaration.value !== undefined ? undefined : name.name
  const [inside, field] = selection(expr) ?? []
  const operand = inside && fieldPath(inside, checked, inner)
  if (!inside || operand === undefined) return undefined
  inner.add(inside.id)
  return `${operand}.${field}`
}

/** Returns the operand and the field of `x.field` or `x.?field`. */
function selection(expr: Expr): readonly [operand: Expr, field: string] | undefined {
  if (expr.kind === 'select') return [expr.operand, expr.field]
  if (expr.kind !== 'call' || expr.function !== '_?._') return undefined
  const [operand, field] = expr.arguments
  return operand && field?.kind === 'literal' && typeof field.value === 'string' ? [operand, field.value] : undefined
}
