/** Evaluates admission expressions one after the other, within a shared cost budget. */
import type { Bindings } from '../program.ts'
import { dynType } from '../types.ts'
import type { Value } from '../values.ts'
import type { Expression } from './expression.ts'
import { type Variables, VariableValues } from './variables.ts'

/** The cost limit for a policy's expressions of one kind per request. */
export const requestCostLimit = 10_000_000
/** The cost limit for match conditions. */
export const matchCostLimit = 2_500_000

export type Result = { readonly value: Value } | { readonly error: string }

/** `exhausted` is the error message if the expressions exceeded the budget. */
export type Run =
  | { readonly results: readonly (Result | undefined)[]; readonly remainingBudget: number }
  | { readonly exhausted: string }

const exhausted = 'validation failed due to running out of cost budget, no further validation rules will be run'

const noVariables: Variables = {
  type: { kind: 'object', name: 'kubernetes.variables', fields: new Map([['', { type: dynType }]]) },
  compiled: new Map(),
}

/** Evaluates expressions. Undefined expressions have undefined results. */
export function runExpressions(
  expressions: readonly (Expression | undefined)[],
  bindings: Bindings,
  budget: number,
  variables: Variables = noVariables,
): Run {
  const composed = variables.compiled.size > 0 ? new VariableValues(variables, bindings) : undefined
  const all = composed?.bindings ?? bindings
  let remainingBudget = budget
  const results: (Result | undefined)[] = []
  for (const expression of expressions) {
    if (!expression) {
      results.push(undefined)
      continue
    }
    const { source, program, fault } = expression
    if (!program) {
      results.push({ error: `compilation error: ${fault}` })
      continue
    }
    const outcome = program.evaluate(all)
    remainingBudget -= outcome.cost + (composed?.takeCost() ?? 0)
    if (remainingBudget < 0) return { exhausted }
    results.push(
      'error' in outcome
        ? { error: `expression '${source}' resulted in error: ${outcome.error}` }
        : { value: outcome.value },
    )
  }
  return { results, remainingBudget }
}
