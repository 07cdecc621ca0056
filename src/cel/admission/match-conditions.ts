/** Match conditions of webhooks and policies, which select requests (KEP-3716). */
import type { Environment } from '../environment.ts'
import type { Bindings } from '../program.ts'
import { boolType } from '../types.ts'
import { compileExpression, type Expression } from './expression.ts'
import { matchCostLimit, runExpressions } from './run.ts'
import type { NamedExpression, Variables } from './variables.ts'

/** `faults` is the number of conditions that failed to evaluate. */
export type Match = { readonly faults: number } & ({ readonly matches: boolean } | { readonly error: string })

export interface MatchConditions {
  readonly conditions: readonly Expression[]
  readonly failurePolicy: string
  readonly variables?: Variables
}

export const compileConditions = (
  environment: Environment,
  conditions: readonly NamedExpression[] = [],
): Expression[] => conditions.map(({ expression }) => compileExpression(environment, expression, [boolType]))

/**
 * Evaluates the conditions. A false condition decides, even if others fail; otherwise errors follow the failure policy.
 */
export function matchConditions({ conditions, failurePolicy, variables }: MatchConditions, bindings: Bindings): Match {
  const run = runExpressions(conditions, bindings, matchCostLimit, variables)
  const ignores = failurePolicy === 'Ignore'
  if ('exhausted' in run) return { faults: 0, ...(ignores ? { matches: false } : { error: run.exhausted }) }
  const errors: string[] = []
  for (const result of run.results) {
    if (!result) continue
    if ('error' in result) errors.push(result.error)
    else if (result.value === false) return { matches: false, faults: errors.length }
  }
  const faults = errors.length
  if (faults === 0) return { matches: true, faults }
  if (ignores) return { matches: false, faults }
  return { faults, error: errors.length === 1 ? errors[0]! : `[${[...new Set(errors)].join(', ')}]` }
}
