/**
 * The variable `authorizer` of expressions. Evaluation is synchronous, but an authorizer may call a webhook: a check
 * without a decision aborts the evaluation, which is repeated once the decision arrives. No check is sent twice.
 */

import type { Bindings } from '../../../cel/index.ts'
import { ResourceCheckValue } from '../../../cel/libraries/authorizer.ts'
import { AuthorizerValue, type CheckAuthorizer } from '../../../cel/libraries/index.ts'
import { parseFieldSelector } from '../../../machinery/selectors/field-selector.ts'
import { parseLabelSelector } from '../../../machinery/selectors/label-selector.ts'
import type { Operator } from '../../../machinery/selectors/requirement.ts'
import type { AccessAttributes, Authorizer, Decision, SelectorRequirement } from '../../authorization/authorizer.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import type { UserInfo } from '../../request-info/user-info.ts'

type CheckDecision = ReturnType<CheckAuthorizer['checkPath']>
type ResourceAttributes = Parameters<CheckAuthorizer['checkResource']>[0]

/** Aborts an evaluation. It is not an error of the expression, so no operator absorbs it. */
class PendingCheck {
  readonly answer: Promise<void>
  constructor(answer: Promise<void>) {
    this.answer = answer
  }
}

/** Runs `evaluate`, and repeats it until all its checks have a decision. `evaluate` must have no side effects. */
export function evaluateWithChecks<T>(evaluate: () => T): T | Promise<T> {
  try {
    return evaluate()
  } catch (error) {
    if (!(error instanceof PendingCheck)) throw error
    return error.answer.then(() => evaluateWithChecks(evaluate))
  }
}

/** The checks of one request and their decisions, shared by all its expressions. */
export class AuthorizationChecks {
  readonly #authorizer: Authorizer
  readonly #decisions = new Map<string, CheckDecision>()

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer
  }

  check(attributes: AccessAttributes & { readonly user: UserInfo }): CheckDecision {
    const { user, info, fieldSelector, labelSelector } = attributes
    const key = JSON.stringify([user.name, info, fieldSelector, labelSelector])
    const known = this.#decisions.get(key)
    if (known) return known
    const decision = this.#authorizer.authorize(attributes)
    const cacheDecision = (found: CheckDecision): CheckDecision => {
      this.#decisions.set(key, found)
      return found
    }
    if (!(decision instanceof Promise)) return cacheDecision(checkDecision(decision))
    throw new PendingCheck(
      decision.then(
        (found) => void cacheDecision(checkDecision(found)),
        (error) =>
          void cacheDecision({
            allowed: false,
            reason: '',
            error: error instanceof Error ? error.message : String(error),
          }),
      ),
    )
  }
}

const checkDecision = ({ verdict, reason, evaluationError }: Decision): CheckDecision => ({
  allowed: verdict === 'allow',
  reason,
  ...(evaluationError && { error: evaluationError }),
})

/** The values of `authorizer` and `authorizer.requestResource`. */
export function authorizerBindings(
  questions: AuthorizationChecks,
  { user, resource, subresource, namespace, name }: AdmissionAttributes,
): Bindings {
  const authorizer = checksOf(questions, user)
  const { group, plural } = resource.definition
  const requested: ResourceAttributes = {
    group,
    resource: plural,
    subresource,
    namespace,
    name,
    fieldSelector: '',
    labelSelector: '',
  }
  return {
    authorizer: new AuthorizerValue(authorizer),
    'authorizer.requestResource': new ResourceCheckValue(authorizer, requested),
  }
}

const none = { prefix: '', group: '', version: '', namespace: '', resource: '', subresource: '', name: '', rest: [] }

const checksOf = (questions: AuthorizationChecks, user: UserInfo): CheckAuthorizer => ({
  checkPath: (path, verb) => questions.check({ user, info: { ...none, isResourceRequest: false, path, verb } }),
  checkResource: ({ fieldSelector, labelSelector, ...attributes }, verb) =>
    questions.check({
      user,
      info: { ...none, ...attributes, version: '*', isResourceRequest: true, path: '', verb },
      ...(fieldSelector && readable(() => ({ fieldSelector: fieldRequirements(fieldSelector) }))),
      ...(labelSelector && readable(() => ({ labelSelector: labelRequirements(labelSelector) }))),
    }),
  serviceAccount: (namespace, name) =>
    checksOf(questions, {
      name: `system:serviceaccount:${namespace}:${name}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    }),
})

/** An unreadable selector is ignored: the check is wider then. */
function readable<T extends object>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const fieldRequirements = (text: string): SelectorRequirement[] =>
  parseFieldSelector(text).requirements.map(({ field, equal, value }) => ({
    key: field,
    operator: equal ? 'In' : 'NotIn',
    values: [value],
  }))

const operators: Partial<Record<Operator, string>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

const labelRequirements = (text: string): SelectorRequirement[] =>
  parseLabelSelector(text).requirements.flatMap(({ key, operator, values }) => {
    const name = operators[operator]
    return name ? [{ key, operator: name, ...(values.length > 0 && { values }) }] : []
  })
