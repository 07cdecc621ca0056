/**
 * The variable `authorizer` of expressions. Expressions are evaluated at one go, but authorizers may have to ask
 * others: a question without an answer yet ends the evaluation, which is done again when the answer is there. Nothing
 * is asked twice.
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

/** Ends an evaluation: it is no fault of an expression, so nothing in one absorbs it. */
class Unanswered {
  readonly answer: Promise<void>
  constructor(answer: Promise<void>) {
    this.answer = answer
  }
}

/** Does `evaluate`, again and again until all that it asks has been answered. It must have no effects. */
export function whenAnswered<T>(evaluate: () => T): T | Promise<T> {
  try {
    return evaluate()
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
    return error.answer.then(() => whenAnswered(evaluate))
  }
}

/** What has been asked during one request, whoever asked. */
export class Questions {
  readonly #authorizer: Authorizer
  readonly #answers = new Map<string, CheckDecision>()

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer
  }

  ask(attributes: AccessAttributes & { readonly user: UserInfo }): CheckDecision {
    const { user, info, fieldSelector, labelSelector } = attributes
    const key = JSON.stringify([user.name, info, fieldSelector, labelSelector])
    const known = this.#answers.get(key)
    if (known) return known
    const decision = this.#authorizer.authorize(attributes)
    const keep = (found: CheckDecision): CheckDecision => {
      this.#answers.set(key, found)
      return found
    }
    if (!(decision instanceof Promise)) return keep(checkDecision(decision))
    throw new Unanswered(
      decision.then(
        (found) => void keep(checkDecision(found)),
        (error) =>
          void keep({ allowed: false, reason: '', error: error instanceof Error ? error.message : String(error) }),
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
  questions: Questions,
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

const checksOf = (questions: Questions, user: UserInfo): CheckAuthorizer => ({
  checkPath: (path, verb) => questions.ask({ user, info: { ...none, isResourceRequest: false, path, verb } }),
  checkResource: ({ fieldSelector, labelSelector, ...attributes }, verb) =>
    questions.ask({
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

/** A selector that cannot be read is not taken into account: the question is wider then. */
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
