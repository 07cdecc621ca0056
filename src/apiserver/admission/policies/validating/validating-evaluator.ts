/** Compiles a ValidatingAdmissionPolicy and evaluates it for one request with one set of parameters. */
import type { V1ValidatingAdmissionPolicySpec } from '@kubernetes/client-node'
import { admissionEnvironment } from '../../../../cel/admission/environment.ts'
import { compileExpression, type Expression } from '../../../../cel/admission/expression.ts'
import { compileConditions, type Match, type MatchConditions } from '../../../../cel/admission/match-conditions.ts'
import { type Result, requestCostLimit, runExpressions } from '../../../../cel/admission/run.ts'
import { compileVariables, type Variables, withVariables } from '../../../../cel/admission/variables.ts'
import type { Bindings } from '../../../../cel/index.ts'
import { boolType, nullType, stringType } from '../../../../cel/types.ts'
import type { Wire } from '../../../../machinery/object.ts'

export type ValidatingSpec = Wire<V1ValidatingAdmissionPolicySpec>

export interface Decision {
  readonly action: 'admit' | 'deny'
  /** True if the evaluation failed, so that the request could not be judged. */
  readonly failed: boolean
  readonly message: string
  /** The reason of the Status if the request is rejected. */
  readonly reason: string
}

export type Annotation = { readonly key: string } & ({ readonly value: string } | { readonly error: string })

export interface Verdict {
  readonly decisions: readonly Decision[]
  /** Annotations of the audit event, without empty ones. */
  readonly annotations: readonly Annotation[]
}

export interface ValidatingEvaluator {
  readonly spec: ValidatingSpec
  readonly variables: Variables
  readonly conditions: MatchConditions | undefined
  readonly validations: readonly Expression[]
  /** The message expression of each validation; undefined if it has none. */
  readonly messages: readonly (Expression | undefined)[]
  readonly annotations: readonly Expression[]
}

/** The maximum length of a message, in bytes. Longer messages are ignored. */
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

/** Returns the verdict if the match conditions failed or exclude the request; undefined if they match. */
export function unmatched({ spec }: ValidatingEvaluator, match: Match): Verdict | undefined {
  if ('error' in match) return { ...nothing, decisions: [failure(spec, match.error)] }
  return match.matches ? undefined : nothing
}

/** The decision after a failed evaluation, according to the failure policy. */
const failure = ({ failurePolicy }: ValidatingSpec, message: string): Decision => ({
  action: failurePolicy === 'Ignore' ? 'admit' : 'deny',
  failed: true,
  message,
  reason: '',
})

/**
 * Evaluates the policy for a request. Has no side effects, so that it can be repeated. `authorizer` has the variables
 * that message expressions cannot use.
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

/** Returns the texts of the message expressions of failed validations; empty if a message cannot be evaluated. */
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
