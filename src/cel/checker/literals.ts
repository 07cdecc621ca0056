/** Literals that a function would refuse at run time are refused when the expression is compiled: patterns, durations, times. */
import type { Call, Expr } from '../syntax/ast.ts'
import type { Issue } from '../syntax/issues.ts'
import { CelError } from '../values.ts'
import type { Checked } from './check.ts'

/** The overloads whose argument (by its place) must be right, and the function's name in the message. */
const checkedArguments: Readonly<Record<string, number>> = { matches: 1, matches_string: 1, string_to_duration: 0, string_to_timestamp: 0 }

/** What is wrong with literals, for all calls of an expression. */
export function literalIssues(checked: Checked, calls: readonly Call[]): Issue[] {
  return calls.flatMap((call) => {
    const resolved = checked.calls.get(call.id)
    const [overload] = resolved?.overloads ?? []
    const place = overload && checkedArguments[overload.id]
    const argument = place === undefined ? undefined : resolved?.arguments[place]
    if (!overload || argument?.kind !== 'literal' || typeof argument.value !== 'string') return []
    try {
      // Only the argument counts: an empty text is matched, or the literal converted.
      overload.evaluate(...(place === 0 ? [argument.value] : ['', argument.value]))
      return []
    } catch (error) {
      if (error instanceof CelError) return [{ message: `invalid ${call.function} argument`, position: argument.position }]
      throw error
    }
  })
}

/** All nodes of a tree, outer ones first. */
export function* nodes(expr: Expr): Generator<Expr> {
  yield expr
  for (const child of children(expr)) yield* nodes(child)
}

function children(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'identifier':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target ? [expr.target, ...expr.arguments] : expr.arguments
    case 'list':
      return expr.elements
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.entries.map(({ value }) => value)
    case 'comprehension':
      return [expr.range, expr.initial, expr.condition, expr.step, expr.result]
    default:
      return expr satisfies never
  }
}
