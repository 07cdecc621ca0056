/** Defaults and validation that validating and mutating admission policies share. */
import type {
  V1MatchCondition,
  V1MatchResources,
  V1NamedRuleWithOperations,
  V1ParamKind,
  V1ParamRef,
  V1Variable,
} from '@kubernetes/client-node'
import { admissionEnvironment } from '../../cel/admission/environment.ts'
import { compileExpression } from '../../cel/admission/expression.ts'
import { compileVariables, withVariables } from '../../cel/admission/variables.ts'
import type { Environment } from '../../cel/index.ts'
import type { Type } from '../../cel/types.ts'
import type { KubeObject, Wire } from '../../machinery/object.ts'
import { validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../machinery/validation/field-error.ts'
import { duplicateFinder, each, follows, oneOf } from '../../machinery/validation/field-rules.ts'
import { dns1035Label, dnsSubdomain, pathSegment } from '../../machinery/validation/names.ts'
import { type Column, column } from '../resource.ts'
import { validateMatchConditions, validateRule } from './webhook-rules.ts'

type MatchResources = Wire<V1MatchResources>

/** The fields that both kinds of policies have. */
export interface PolicySpec {
  failurePolicy?: string
  paramKind?: Wire<V1ParamKind>
  matchConstraints?: MatchResources
  matchConditions?: Wire<V1MatchCondition>[]
  variables?: Wire<V1Variable>[]
}

/** Sets the defaults of a policy. */
export function policyDefaults(spec: PolicySpec | undefined): void {
  if (!spec) return
  spec.failurePolicy ??= 'Fail'
  matchDefaults(spec.matchConstraints)
}

/** Validates the fields that both kinds of policies have. */
export function validatePolicySpec(spec: PolicySpec = {}): FieldError[] {
  const errors = [
    ...oneOf(spec.failurePolicy, 'spec.failurePolicy', ['Fail', 'Ignore']),
    ...validateParamKind(spec.paramKind, 'spec.paramKind'),
  ]
  if (!spec.matchConstraints) errors.push(required('spec.matchConstraints'))
  else {
    errors.push(...validateMatchResources(spec.matchConstraints, 'spec.matchConstraints'))
    if (!spec.matchConstraints.resourceRules?.length) errors.push(required('spec.matchConstraints.resourceRules'))
  }
  return [
    ...errors,
    ...validateMatchConditions(spec.matchConditions, 'spec.matchConditions', spec.paramKind !== undefined),
  ]
}

export const paramKindColumn: Column<KubeObject & { spec?: PolicySpec }> = column(
  'ParamKind',
  ({ spec }) => (spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : '<unset>'),
  { description: 'The kind of the parameters.' },
)

type ParamRef = Wire<V1ParamRef>
type Binding = KubeObject & { spec?: { policyName?: string; paramRef?: ParamRef } }

export const policyNameColumn: Column<Binding> = column('PolicyName', ({ spec }) => spec?.policyName ?? '', {
  description: 'The bound policy.',
})
export const paramRefColumn: Column<Binding> = column('ParamRef', ({ spec }) => paramRefText(spec?.paramRef), {
  description: 'The parameters of the policy.',
})

function paramRefText({ name, namespace, selector }: Partial<ParamRef> = {}): string {
  if (name) return `${namespace || '*'}/${name}`
  return selector ? formatGoSelector(selector) : '<unset>'
}

/**
 * Formats a selector as Go does:
 * `&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}`.
 */
function formatGoSelector({ matchLabels = {}, matchExpressions = [] }: NonNullable<ParamRef['selector']>): string {
  const labels = Object.keys(matchLabels).sort()
  const texts = labels.map((label) => `${label}: ${matchLabels[label]},`).join('')
  const requirements = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  const expressions = `[]LabelSelectorRequirement{${requirements.join('')}}`
  return `&LabelSelector{MatchLabels:map[string]string{${texts}},MatchExpressions:${expressions},}`
}

/** Sets the defaults of matchConstraints and matchResources. */
export function matchDefaults(match: MatchResources | undefined): void {
  if (!match) return
  match.matchPolicy ??= 'Equivalent'
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) rule.scope ??= '*'
}

/** Validates matchConstraints or matchResources. */
export function validateMatchResources(match: MatchResources | undefined, path: string): readonly FieldError[] {
  if (!match) return []
  return [
    ...oneOf(match.matchPolicy, `${path}.matchPolicy`, ['Equivalent', 'Exact']),
    ...validateLabelSelector(match.namespaceSelector, `${path}.namespaceSelector`),
    ...validateLabelSelector(match.objectSelector, `${path}.objectSelector`),
    ...each(match.resourceRules, `${path}.resourceRules`, validateNamedRule),
    ...each(match.excludeResourceRules, `${path}.excludeResourceRules`, validateNamedRule),
  ]
}

const mutableOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

/**
 * Rejects DELETE in the rules of mutating policies: a deleted object cannot be mutated. `*` does not include DELETE
 * there.
 */
export const rejectDelete = (match: MatchResources | undefined, path: string): readonly FieldError[] =>
  (match?.resourceRules ?? []).flatMap(({ operations }) =>
    (operations ?? []).flatMap((operation) =>
      mutableOperations.includes(operation)
        ? []
        : [notSupported(`${path}.resourceRules.operations`, operation, mutableOperations)],
    ),
  )

/** Validates a rule that may have resourceNames. */
function validateNamedRule(rule: Wire<V1NamedRuleWithOperations>, path: string): readonly FieldError[] {
  const isRepeated = duplicateFinder<string>()
  const names = each(rule.resourceNames, `${path}.resourceNames`, (name, field) => [
    ...follows(name, field, pathSegment),
    ...(isRepeated(name) ? [duplicate(field, name)] : []),
  ])
  return [...names, ...validateRule(rule, path)]
}

/** Validates a policy's paramKind. */
function validateParamKind(paramKind: Wire<V1ParamKind> | undefined, path: string): readonly FieldError[] {
  if (!paramKind) return []
  const { apiVersion, kind } = paramKind
  const errors: FieldError[] = []
  if (!apiVersion) errors.push(required(`${path}.apiVersion`))
  else errors.push(...groupVersionRules(apiVersion, `${path}.apiVersion`))
  if (!kind) errors.push(required(`${path}.kind`))
  else {
    const messages = dns1035Label(kind.toLowerCase())
    if (messages.length > 0)
      errors.push(
        invalidValue(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${messages.join(',')}`),
      )
  }
  return errors
}

function groupVersionRules(apiVersion: string, path: string): FieldError[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return [invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const [version = '', group = ''] = parts.reverse()
  const errors: FieldError[] = []
  const groupErrors = group === '' ? [] : dnsSubdomain(group)
  if (groupErrors.length > 0) errors.push(invalidValue(path, group, groupErrors.join(',')))
  if (version === '') errors.push(invalidValue(path, apiVersion, 'version must be specified'))
  else if (dns1035Label(version).length > 0) errors.push(invalidValue(path, version, dns1035Label(version).join(',')))
  return errors
}

/** Validates a binding's paramRef. */
export function validateParamRef(ref: Wire<V1ParamRef> | undefined, path: string): readonly FieldError[] {
  if (!ref) return []
  const errors: FieldError[] = []
  if (ref.name) {
    errors.push(...follows(ref.name, `${path}.name`, pathSegment))
    if (ref.selector) errors.push(forbiddenField(`${path}.name`, 'name and selector are mutually exclusive'))
  }
  if (ref.selector) {
    errors.push(...validateLabelSelector(ref.selector, `${path}.selector`))
    if (ref.name) errors.push(forbiddenField(`${path}.selector`, 'name and selector are mutually exclusive'))
  }
  if (!ref.name && !ref.selector) errors.push(required(path, 'one of name or selector must be specified'))
  if (!ref.parameterNotFoundAction) return [...errors, required(`${path}.parameterNotFoundAction`)]
  return [...errors, ...oneOf(ref.parameterNotFoundAction, `${path}.parameterNotFoundAction`, ['Deny', 'Allow'])]
}

/** Validates a binding's policyName. */
export const validatePolicyName = (name: string | undefined): readonly FieldError[] =>
  name ? follows(name, 'spec.policyName', dnsSubdomain) : [required('spec.policyName')]

/** Compiles a policy's expressions; `errors` are those of its variables. */
export interface PolicyExpressions {
  readonly errors: readonly FieldError[]
  /** Validates an expression; `withoutAuthorizer` compiles it without that variable. */
  readonly validate: (
    source: string,
    path: string,
    results: readonly Type[],
    withoutAuthorizer?: boolean,
  ) => readonly FieldError[]
}

/** `patches` is true if expressions build patches of objects. */
export function compilePolicy({ paramKind, variables }: PolicySpec = {}, patches = false): PolicyExpressions {
  const options = { params: paramKind !== undefined, patches }
  const base = admissionEnvironment({ ...options, authorizer: true })
  const composition = variables?.length
    ? compileVariables(
        base,
        variables.filter(({ expression }) => expression?.trim()),
      )
    : undefined
  const extended = (environment: Environment): Environment =>
    composition ? withVariables(environment, composition.type) : environment
  const all = extended(base)
  const errors = (variables ?? []).flatMap(({ name, expression }, at) => {
    const field = `spec.variables[${at}]`
    const found: FieldError[] = []
    if (!name?.trim()) found.push(required(`${field}.name`, 'name is not specified'))
    else if (!isCelIdentifier(name))
      found.push(invalidValue(`${field}.name`, name, 'name is not a valid CEL identifier'))
    if (!expression?.trim()) return [...found, required(`${field}.expression`, 'expression is not specified')]
    const fault = composition?.compiled.get(name)?.fault
    return fault ? [...found, invalidValue(`${field}.expression`, expression, fault)] : found
  })
  return {
    errors,
    validate(source, path, results, withoutAuthorizer = false) {
      const { fault } = compileExpression(
        withoutAuthorizer ? extended(admissionEnvironment({ ...options, authorizer: false })) : all,
        source,
        results,
      )
      return fault ? [invalidValue(path, source, fault)] : []
    },
  }
}

const reserved: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
)
const isCelIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name)
