/**
 * Kubernetes' libraries of authorization checks:
 * `authorizer.group('apps').resource('deployments').check('create').allowed()`. The authorizer and its user are passed
 * as the value of the variable `authorizer`.
 */
import { dnsLabel, dnsSubdomain } from '../../machinery/validation/names.ts'
import type { Library } from '../library.ts'
import { declare, fixed, member, plus, scaled } from '../standard/declare.ts'
import { boolType, type OpaqueType, opaqueType, stringType } from '../types.ts'
import { CelError, OpaqueValue, type Value } from '../values.ts'
import { expectInstance, textOf } from './arguments.ts'
import { type Costs, listCost, scanEstimate, sizeEstimate, sizeOf } from './costs.ts'

/** Authorizes requests of one user. */
export interface CheckAuthorizer {
  checkPath(path: string, verb: string): CheckDecision
  checkResource(resource: ResourceAttributes, verb: string): CheckDecision
  /** Returns the authorizer of a service account. */
  serviceAccount(namespace: string, name: string): CheckAuthorizer
}

export interface ResourceAttributes {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** The selector of the expression, or empty. An invalid one is ignored. */
  readonly fieldSelector: string
  readonly labelSelector: string
}

export interface CheckDecision {
  readonly allowed: boolean
  readonly reason: string
  /** The error of the decision, if any. */
  readonly error?: string
}

const typeNamed = (name: string): OpaqueType => opaqueType(`kubernetes.authorization.${name}`)

export const authorizerType = typeNamed('Authorizer')
const pathCheckType = typeNamed('PathCheck')
const groupCheckType = typeNamed('GroupCheck')
/** Also the type of the variable `authorizer.requestResource`. */
export const resourceCheckType = typeNamed('ResourceCheck')
const decisionType = typeNamed('Decision')

/** A value that is only equal to itself. */
abstract class Receiver extends OpaqueValue {
  equals(other: OpaqueValue): boolean {
    return other === this
  }
}

/** The value of the variable `authorizer`. */
export class AuthorizerValue extends Receiver {
  readonly type = authorizerType
  readonly authorizer: CheckAuthorizer
  constructor(authorizer: CheckAuthorizer) {
    super()
    this.authorizer = authorizer
  }
}

class PathCheck extends Receiver {
  readonly type = pathCheckType
  readonly authorizer: CheckAuthorizer
  readonly path: string
  constructor(authorizer: CheckAuthorizer, path: string) {
    super()
    this.authorizer = authorizer
    this.path = path
  }
}

class GroupCheck extends Receiver {
  readonly type = groupCheckType
  readonly authorizer: CheckAuthorizer
  readonly group: string
  constructor(authorizer: CheckAuthorizer, group: string) {
    super()
    this.authorizer = authorizer
    this.group = group
  }
}

/** A check of a resource, also the value of `authorizer.requestResource`. */
export class ResourceCheckValue extends Receiver {
  readonly type = resourceCheckType
  readonly authorizer: CheckAuthorizer
  readonly attributes: ResourceAttributes
  constructor(authorizer: CheckAuthorizer, attributes: ResourceAttributes) {
    super()
    this.authorizer = authorizer
    this.attributes = attributes
  }
}

class DecisionValue extends Receiver {
  readonly type = decisionType
  readonly decision: CheckDecision
  constructor(decision: CheckDecision) {
    super()
    this.decision = decision
  }
}

/** The budget of an expression is enough for two checks. */
const checkCosts: Costs = { cost: () => 350_000, estimate: () => ({ cost: fixed(350_000) }) }

function nonEmpty(text: Value | undefined, name: string): string {
  const value = textOf(text)
  if (value.trim() === '') throw new CelError(`${name} must not be empty`)
  return value
}

function serviceAccount(value: Value | undefined, namespace: string, name: string): AuthorizerValue {
  if (dnsSubdomain(name).length > 0) throw new CelError('Invalid service account name')
  if (dnsLabel(namespace).length > 0) throw new CelError('Invalid service account namespace')
  return new AuthorizerValue(expectInstance(AuthorizerValue, value).authorizer.serviceAccount(namespace, name))
}

function resource(value: Value | undefined, text: Value | undefined): ResourceCheckValue {
  const { authorizer, group } = expectInstance(GroupCheck, value)
  const none = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' }
  return new ResourceCheckValue(authorizer, { ...none, group, resource: nonEmpty(text, 'resource') })
}

const attribute = (name: keyof ResourceAttributes, id: string, costs?: Costs) =>
  declare(
    name,
    member(
      id,
      [resourceCheckType, stringType],
      resourceCheckType,
      (value, text) => {
        const { authorizer, attributes } = expectInstance(ResourceCheckValue, value)
        return new ResourceCheckValue(authorizer, { ...attributes, [name]: textOf(text) })
      },
      costs,
    ),
  )

function checkPath(value: Value | undefined, verb: string): DecisionValue {
  const { authorizer, path } = expectInstance(PathCheck, value)
  return new DecisionValue(authorizer.checkPath(path, verb))
}

function checkResource(value: Value | undefined, verb: string): DecisionValue {
  const { authorizer, attributes } = expectInstance(ResourceCheckValue, value)
  return new DecisionValue(authorizer.checkResource(attributes, verb))
}

const decision = (value: Value | undefined): CheckDecision => expectInstance(DecisionValue, value).decision

export const authorizerLibrary: Library = {
  name: 'kubernetes.authz',
  types: [authorizerType, pathCheckType, groupCheckType, resourceCheckType, decisionType],
  functions: [
    declare(
      'path',
      member(
        'authorizer_path',
        [authorizerType, stringType],
        pathCheckType,
        (value, path) => new PathCheck(expectInstance(AuthorizerValue, value).authorizer, nonEmpty(path, 'path')),
      ),
    ),
    declare(
      'group',
      member(
        'authorizer_group',
        [authorizerType, stringType],
        groupCheckType,
        (value, group) => new GroupCheck(expectInstance(AuthorizerValue, value).authorizer, textOf(group)),
      ),
    ),
    declare(
      'serviceAccount',
      member(
        'authorizer_serviceaccount',
        [authorizerType, stringType, stringType],
        authorizerType,
        (value, namespace, name) => serviceAccount(value, textOf(namespace), textOf(name)),
      ),
    ),
    declare('resource', member('groupcheck_resource', [groupCheckType, stringType], resourceCheckType, resource)),
    attribute('subresource', 'resourcecheck_subresource'),
    attribute('namespace', 'resourcecheck_namespace'),
    attribute('name', 'resourcecheck_name'),
    declare(
      'check',
      member(
        'pathcheck_check',
        [pathCheckType, stringType],
        decisionType,
        (value, verb) => checkPath(value, textOf(verb)),
        checkCosts,
      ),
      member(
        'resourcecheck_check',
        [resourceCheckType, stringType],
        decisionType,
        (value, verb) => checkResource(value, textOf(verb)),
        checkCosts,
      ),
    ),
    declare(
      'allowed',
      member('decision_allowed', [decisionType], boolType, (value) => decision(value).allowed),
    ),
    declare(
      'reason',
      member('decision_reason', [decisionType], stringType, (value) => decision(value).reason),
    ),
    declare(
      'errored',
      member('decision_errored', [decisionType], boolType, (value) => decision(value).error !== undefined),
    ),
    declare(
      'error',
      member('decision_error', [decisionType], stringType, (value) => decision(value).error ?? ''),
    ),
  ],
}

/** A selector is parsed to requirements, up to one per two characters, each with a list of values. */
const requirementCost = 50

const selectorCosts: Costs = {
  cost: ([, text]) => {
    const size = sizeOf(text)
    return listCost + Math.ceil(size * 0.1) + Math.ceil(size * 0.5) * requirementCost
  },
  estimate: ([, text]) => {
    const size = sizeEstimate(text)
    return { cost: plus(plus(fixed(listCost), scanEstimate(size)), scaled(scaled(size, 0.5), requirementCost)) }
  },
}

export const authorizerSelectorsLibrary: Library = {
  name: 'kubernetes.authzSelectors',
  functions: [
    attribute('fieldSelector', 'authorizer_fieldselector', selectorCosts),
    attribute('labelSelector', 'authorizer_labelselector', selectorCosts),
  ],
}
