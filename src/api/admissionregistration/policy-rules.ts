/** Defaults and rules that admission policies in CEL of both kinds share. */
import type { V1MatchCondition, V1MatchResources, V1ParamKind, V1ParamRef, V1Variable } from '@kubernetes/client-node'
import type { KubeObject, Wire } from '../../machinery/object.ts'
import { validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { duplicate, type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { each, follows, oneOf } from '../../machinery/validation/field-rules.ts'
import { cIdentifier } from '../../machinery/validation/names.ts'
import { type Column, column } from '../resource.ts'
import { admissionRule, matchConditionRules } from './webhook-rules.ts'

type MatchResources = Wire<V1MatchResources>

/** What policies of both kinds say. */
interface PolicySpec {
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
  const errors = [...oneOf(spec.failurePolicy, 'spec.failurePolicy', ['Fail', 'Ignore']), ...paramKindRules(spec.paramKind, 'spec.paramKind')]
  if (!spec.matchConstraints) errors.push(required('spec.matchConstraints'))
  else if (!spec.matchConstraints.resourceRules?.length) errors.push(required('spec.matchConstraints.resourceRules'))
  return [
    ...errors,
    ...matchRules(spec.matchConstraints, 'spec.matchConstraints'),
    ...matchConditionRules(spec.matchConditions, 'spec.matchConditions'),
    ...variableRules(spec.variables, 'spec.variables'),
  ]
}

export const paramKindColumn: Column<KubeObject & { spec?: PolicySpec }> = column(
  'ParamKind',
  ({ spec }) => (spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : '<unset>'),
  { description: 'The kind of its parameters.' },
)

/** What bindings of both kinds say. */
type ParamRef = Wire<V1ParamRef>
type Binding = KubeObject & { spec?: { policyName?: string; paramRef?: ParamRef } }

export const policyNameColumn: Column<Binding> = column('PolicyName', ({ spec }) => spec?.policyName ?? '', { description: 'The policy that it puts to work.' })
export const paramRefColumn: Column<Binding> = column('ParamRef', ({ spec }) => paramRefText(spec?.paramRef), {
  description: 'The parameters that it gives the policy.',
})

function paramRefText({ name, namespace, selector }: Partial<ParamRef> = {}): string {
  if (name) return `${namespace || '*'}/${name}`
  return selector ? goSelector(selector) : '<unset>'
}

/** A selector as Go prints it: `&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}`. */
function goSelector({ matchLabels = {}, matchExpressions = [] }: NonNullable<ParamRef['selector']>): string {
  const labels = Object.keys(matchLabels).sort()
  const texts = labels.map((label) => `${label}: ${matchLabels[label]},`).join('')
  const requirements = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
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
    ...each(match.resourceRules, `${path}.resourceRules`, admissionRule),
    ...each(match.excludeResourceRules, `${path}.excludeResourceRules`, admissionRule),
  ]
}

/** What is wrong with the kind of a policy's parameters. */
function paramKindRules(kind: Wire<V1ParamKind> | undefined, path: string): readonly FieldError[] {
  if (!kind) return []
  return [...(kind.apiVersion ? [] : [required(`${path}.apiVersion`)]), ...(kind.kind ? [] : [required(`${path}.kind`)])]
}

/** What is wrong with the reference to a policy's parameters. */
export function paramRefRules(ref: Wire<V1ParamRef> | undefined, path: string): readonly FieldError[] {
  if (!ref) return []
  const errors: FieldError[] = []
  if (ref.name && ref.selector) errors.push(invalidValue(path, null, 'name and selector are mutually exclusive'))
  if (!ref.name && !ref.selector) errors.push(required(path, 'one of name or selector must be specified'))
  if (!ref.parameterNotFoundAction) errors.push(required(`${path}.parameterNotFoundAction`))
  return [
    ...errors,
    ...oneOf(ref.parameterNotFoundAction, `${path}.parameterNotFoundAction`, ['Deny', 'Allow']),
    ...validateLabelSelector(ref.selector, `${path}.selector`),
  ]
}

/** What is wrong with the names of variables; their expressions are compiled by admission. */
function variableRules(variables: readonly Wire<V1Variable>[] | undefined, path: string): readonly FieldError[] {
  const names = new Set<string>()
  return (variables ?? []).flatMap(({ name, expression }, at) => {
    const field = `${path}[${at}]`
    const errors = [...(name ? follows(name, `${field}.name`, cIdentifier) : [required(`${field}.name`, 'name is not specified')])]
    if (!expression?.trim()) errors.push(required(`${field}.expression`, 'expression is not specified'))
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name))
    names.add(name)
    return errors
  })
}
