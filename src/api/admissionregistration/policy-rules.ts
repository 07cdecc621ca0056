/** Defaults and rules that admission policies in CEL of both kinds share. */
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
import { each, follows, oneOf, repeats } from '../../machinery/validation/field-rules.ts'
import { dns1035Label, dnsSubdomain, pathSegment } from '../../machinery/validation/names.ts'
import { type Column, column } from '../resource.ts'
import { admissionRule, matchConditionRules } from './webhook-rules.ts'

type MatchResources = Wire<V1MatchResources>

/** What policies of both kinds say. */
export interface PolicySpec {
  failurePolicy?: string
  paramKind?: Wire<V1ParamKind>
  matchConstraints?: MatchResources
  matchConditions?: Wire<V1MatchCondition>[]
  variables?: Wire<V1Variable>[]
}

/** What a policy means that says nothing else. */
export function policyDefaults(spec: PolicySpec | undefined): void {
  if (!spec) return
  spec.failurePolicy ??= 'Fail'
  matchDefaults(spec.matchConstraints)
}

/** What is wrong with what policies of both kinds say. */
export function commonPolicyRules(spec: PolicySpec = {}): FieldError[] {
  const errors = [
    ...oneOf(spec.failurePolicy, 'spec.failurePolicy', ['Fail', 'Ignore']),
    ...paramKindRules(spec.paramKind, 'spec.paramKind'),
  ]
  if (!spec.matchConstraints) errors.push(required('spec.matchConstraints'))
  else {
    errors.push(...matchRules(spec.matchConstraints, 'spec.matchConstraints'))
    if (!spec.matchConstraints.resourceRules?.length) errors.push(required('spec.matchConstraints.resourceRules'))
  }
  return [...errors, ...matchConditionRules(spec.matchConditions, 'spec.matchConditions', spec.paramKind !== undefined)]
}

export const paramKindColumn: Column<KubeObject & { spec?: PolicySpec }> = column(
  'ParamKind',
  ({ spec }) => (spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : '<unset>'),
  { description: 'The kind of its parameters.' },
)

/** What bindings of both kinds say. */
type ParamRef = Wire<V1ParamRef>
type Binding = KubeObject & { spec?: { policyName?: string; paramRef?: ParamRef } }

export const policyNameColumn: Column<Binding> = column('PolicyName', ({ spec }) => spec?.policyName ?? '', {
  description: 'The policy that it puts to work.',
})
export const paramRefColumn: Column<Binding> = column('ParamRef', ({ spec }) => paramRefText(spec?.paramRef), {
  description: 'The parameters that it gives the policy.',
})

function paramRefText({ name, namespace, selector }: Partial<ParamRef> = {}): string {
  if (name) return `${namespace || '*'}/${name}`
  return selector ? goSelector(selector) : '<unset>'
}

/**
 * A selector as Go prints it: `&LabelSelector{MatchLabels:map[string]string{a:
 * b,},MatchExpressions:[]LabelSelectorRequirement{},}`.
 */
function goSelector({ matchLabels = {}, matchExpressions = [] }: NonNullable<ParamRef['selector']>): string {
  const labels = Object.keys(matchLabels).sort()
  const texts = labels.map((label) => `${label}: ${matchLabels[label]},`).join('')
  const requirements = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${texts}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`
}

/** What matches when a policy or binding says nothing else. */
export function matchDefaults(match: MatchResources | undefined): void {
  if (!match) return
  match.matchPolicy ??= 'Equivalent'
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) rule.scope ??= '*'
}

/** What is wrong with what a policy or binding matches. */
export function matchRules(match: MatchResources | undefined, path: string): readonly FieldError[] {
  if (!match) return []
  return [
    ...oneOf(match.matchPolicy, `${path}.matchPolicy`, ['Equivalent', 'Exact']),
    ...validateLabelSelector(match.namespaceSelector, `${path}.namespaceSelector`),
    ...validateLabelSelector(match.objectSelector, `${path}.objectSelector`),
    ...each(match.resourceRules, `${path}.resourceRules`, namedRule),
    ...each(match.excludeResourceRules, `${path}.excludeResourceRules`, namedRule),
  ]
}

const mutable = ['*', 'CONNECT', 'CREATE', 'UPDATE']

/**
 * What is deleted cannot be changed any more: rules of policies that change objects do not say DELETE, and a star does
 * not mean it.
 */
export const mutableOperations = (match: MatchResources | undefined, path: string): readonly FieldError[] =>
  (match?.resourceRules ?? []).flatMap(({ operations }) =>
    (operations ?? []).flatMap((operation) =>
      mutable.includes(operation) ? [] : [notSupported(`${path}.resourceRules.operations`, operation, mutable)],
    ),
  )

/** What is wrong with a rule that may name objects. */
function namedRule(rule: Wire<V1NamedRuleWithOperations>, path: string): readonly FieldError[] {
  const isRepeated = repeats<string>()
  const names = each(rule.resourceNames, `${path}.resourceNames`, (name, field) => [
    ...follows(name, field, pathSegment),
    ...(isRepeated(name) ? [duplicate(field, name)] : []),
  ])
  return [...names, ...admissionRule(rule, path)]
}

/** What is wrong with the kind of a policy's parameters. */
function paramKindRules(paramKind: Wire<V1ParamKind> | undefined, path: string): readonly FieldError[] {
  if (!paramKind) return []
  const { apiVersion, kind } = paramKind
  const errors: FieldError[] = []
  if (!apiVersion) errors.push(required(`${path}.apiVersion`))
  else errors.push(...groupVersionRules(apiVersion, `${path}.apiVersion`))
  if (!kind) errors.push(required(`${path}.kind`))
  else {
    const words = dns1035Label(kind.toLowerCase())
    if (words.length > 0)
      errors.push(
        invalidValue(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${words.join(',')}`),
      )
  }
  return errors
}

function groupVersionRules(apiVersion: string, path: string): FieldError[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return [invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const [version = '', group = ''] = parts.reverse()
  const errors: FieldError[] = []
  const ofGroup = group === '' ? [] : dnsSubdomain(group)
  if (ofGroup.length > 0) errors.push(invalidValue(path, group, ofGroup.join(',')))
  if (version === '') errors.push(invalidValue(path, apiVersion, 'version must be specified'))
  else if (dns1035Label(version).length > 0) errors.push(invalidValue(path, version, dns1035Label(version).join(',')))
  return errors
}

/** What is wrong with the reference to a policy's parameters. */
export function paramRefRules(ref: Wire<V1ParamRef> | undefined, path: string): readonly FieldError[] {
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

/** What is wrong with the name of a binding's policy. */
export const policyNameRules = (name: string | undefined): readonly FieldError[] =>
  name ? follows(name, 'spec.policyName', dnsSubdomain) : [required('spec.policyName')]

/** Where a policy's expressions are compiled, and what is wrong with its variables. */
export interface PolicyExpressions {
  readonly errors: readonly FieldError[]
  /** What is wrong with an expression; `quiet`: it does not see the authorizer. */
  readonly faults: (source: string, path: string, results: readonly Type[], quiet?: boolean) => readonly FieldError[]
}

/** `patches`: expressions make changes of objects. */
export function policyExpressions({ paramKind, variables }: PolicySpec = {}, patches = false): PolicyExpressions {
  const options = { params: paramKind !== undefined, patches }
  const base = admissionEnvironment({ ...options, authorizer: true })
  const composed = variables?.length
    ? compileVariables(
        base,
        variables.filter(({ expression }) => expression?.trim()),
      )
    : undefined
  const known = (environment: Environment): Environment =>
    composed ? withVariables(environment, composed.type) : environment
  const all = known(base)
  const errors = (variables ?? []).flatMap(({ name, expression }, at) => {
    const field = `spec.variables[${at}]`
    const found: FieldError[] = []
    if (!name?.trim()) found.push(required(`${field}.name`, 'name is not specified'))
    else if (!isCelIdentifier(name))
      found.push(invalidValue(`${field}.name`, name, 'name is not a valid CEL identifier'))
    if (!expression?.trim()) return [...found, required(`${field}.expression`, 'expression is not specified')]
    const fault = composed?.compiled.get(name)?.fault
    return fault ? [...found, invalidValue(`${field}.expression`, expression, fault)] : found
  })
  return {
    errors,
    faults(source, path, results, quiet = false) {
      const { fault } = compileExpression(
        quiet ? known(admissionEnvironment({ ...options, authorizer: false })) : all,
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
