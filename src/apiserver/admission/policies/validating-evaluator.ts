/** A ValidatingAdmissionPolicy, compiled, and what it says of one request with one set of parameters. */
import type { V1ValidatingAdmissionPolicySpec } from '@kubernetes/client-node'
import { admissionEnvironment } from '../../../cel/admission/environment.ts'
import { compileExpression, type Expression } from '../../../cel/admission/expression.ts'
import { compileConditions, type Match, type MatchConditions } from '../../../cel/admission/match-conditions.ts'
import { type Result, requestCostLimit, runExpressions } from '../../../cel/admission/run.ts'
import { compileVariables, type Variables, withVariables } from '../../../cel/admission/variables.ts'
import type { Bindings } from '../../../cel/index.ts'
import { boolType, nullType, stringType } from '../../../cel/types.ts'
import type { Wire } from '../../../machinery/object.ts'

export type ValidatingSpec = Wire<V1ValidatingAdmissionPolicySpec>

export interface Decision {
  readonly action: 'admit' | 'deny'
  /** It was not found out whether the request is good. */
  readonly failed: boolean
  readonly message: string
  /** Of the Status, if the request is refused. */
  readonly reason: string
}

export type Annotation = { readonly key: string } & ({ readonly value: string } | { readonly error: string })

export interface Verdict {
  readonly decisions: readonly Decision[]
  /** For the audit event; those that say nothing are left out. */
  readonly annotations: readonly Annotation[]
}

export interface ValidatingEvaluator {
  readonly spec: ValidatingSpec
  readonly variables: Variables
  readonly conditions: MatchConditions | undefined
  readonly validations: readonly Expression[]
  /** By validation; undefined where there is none. */
  readonly messages: readonly (Expression | undefined)[]
  readonly annotations: readonly Expression[]
}

/** Longer messages are not told, in bytes. */
const longestMessage = 5 * 1024
const nothing: Verdict = { decisions: [], annotations: [] }

export function compileValidating(spec: ValidatingSpec): ValidatingEvaluator {
  const params = spec.paramKind !== undefined
  const base = admissionEnvironment({ params, authorizer: true })
  const variables = compileVariables(base, spec.variables)
  const all = withVariables(base, variables.type)
  const quiet = withVariables(admissionEnvironment({ params, authorizer: false }), variables.type)
  const { matchConditions: conditions, failurePolicy = 'Fail', validations = [], auditAnnotations = [] } = spec
  return {
    spec,
    variables,
    conditions: conditions?.length
      ? { conditions: compileConditions(all, conditions), failurePolicy, variables }
      : undefined,
    validations: validations.map(({ expression }) => compileExpression(all, expression, [boolType])),
    messages: validations.map(({ messageExpression }) =>
      messageExpression ? compileExpression(quiet, messageExpression, [stringType]) : undefined,
    ),
    annotations: auditAnnotations.map(({ valueExpression }) =>
      compileExpression(all, valueExpression, [stringType, nullType]),
    ),
  }
}

/** What a match condition comes to that is no match; undefined for one. */
export function unmatched({ spec }: ValidatingEvaluator, match: Match): Verdict | undefined {
  if ('error' in match) return { ...nothing, decisions: [failure(spec, match.error)] }
  return match.matches ? undefined : nothing
}

/** It was not found out whether the request is good: the failure policy decides. */
const failure = ({ failurePolicy }: ValidatingSpec, message: string): Decision => ({
  action: failurePolicy === 'Ignore' ? 'admit' : 'deny',
  failed: true,
  message,
  reason: '',
})

/**
 * Holds the policy against a request. Without effects: it may be done again. `authorizer` are the bindings that
 * messages do not see.
 */
export function evaluateValidating(evaluator: ValidatingEvaluator, bindings: Bindings, authorizer: Bindings): Verdict {
  const { spec, variables, validations } = evaluator
  const failed = (message: string): Decision => failure(spec, message)
  const all = { ...bindings, ...authorizer }
  const run = runExpressions(validations, all, requestCostLimit, variables)
  if ('exhausted' in run) return { ...nothing, decisions: [failed(run.exhausted)] }
  const messages = messagesOf(evaluator, run.results, bindings, run.remainingBudget)
  const decisions = run.results.map((result, at): Decision => {
    if (!result || 'error' in result) return failed(result?.error ?? '')
    if (result.value === true) return { action: 'admit', failed: false, message: '', reason: '' }
    if ('exhausted' in messages) return failed(`failed messageExpression: ${messages.exhausted}`)
    const { message = '', expression, reason = 'Invalid' } = spec.validations![at]!
    return {
      action: 'deny',
      failed: false,
      reason,
      message: messages.results[at] || message.trim() || `failed expression: ${expression.trim()}`,
    }
  })
  const annotated = annotationsOf(evaluator, all)
  if ('exhausted' in annotated) return { ...nothing, decisions: [failed(annotated.exhausted)] }
  return { decisions, annotations: annotated.results }
}

/** The texts of message expressions, where a validation does not hold and the text can be told. */
function messagesOf(
  { messages, variables }: ValidatingEvaluator,
  results: readonly (Result | undefined)[],
  bindings: Bindings,
  budget: number,
): { readonly results: readonly string[] } | { readonly exhausted: string } {
  const wanted = messages.map((message, at) => {
    const result = results[at]
    return result && 'value' in result && result.value !== true ? message : undefined
  })
  if (!wanted.some(Boolean)) return { results: [] }
  const run = runExpressions(wanted, bindings, budget, variables)
  if ('exhausted' in run) return run
  return {
    results: run.results.map((result) => {
      const text = result && 'value' in result && typeof result.value === 'string' ? result.value.trim() : ''
      return text.includes('\n') || Buffer.byteLength(text) > longestMessage ? '' : text
    }),
  }
}

function annotationsOf(
  { annotations, variables, spec }: ValidatingEvaluator,
  bindings: Bindings,
): { readonly results: readonly Annotation[] } | { readonly exhausted: string } {
  if (annotations.length === 0) return { results: [] }
  const run = runExpressions(annotations, bindings, requestCostLimit, variables)
  if ('exhausted' in run) return run
  const results = run.results.flatMap((result, at): Annotation[] => {
    const { key } = spec.auditAnnotations![at]!
    if (!result || 'error' in result)
      return spec.failurePolicy === 'Ignore' ? [] : [{ key, error: result?.error ?? '' }]
    const value = typeof result.value === 'string' ? result.value.trim() : ''
    return value === '' ? [] : [{ key, value }]
  })
  return { results }
}
