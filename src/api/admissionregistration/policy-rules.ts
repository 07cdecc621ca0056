/** Defaults and rules that admission policies in CEL of both kinds share. */
import type { V1MatchResources, V1ParamKind, V1ParamRef, V1Variable } from '@kubernetes/client-node'
import { duplicate, type FieldError, invalidValue, required } from '../../machinery/field-error.ts'
import { validateLabelSelector } from '../../machinery/label-selector.ts'
import { cIdentifier } from '../../machinery/names.ts'
import type { Wire } from '../../machinery/object.ts'
import { follows, oneOf } from '../field-rules.ts'
import { admissionRule } from './webhook-rules.ts'

type MatchResources = Wire<V1MatchResources>

/** What matches when a policy or binding says nothing else. */
export function matchDefaults(match: MatchResources | undefined): void {
  if (!match) return
  match.matchPolicy ??= 'Equivalent'
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) rule.scope ??= '*'
}

/** What is wrong with what a policy or binding matches. */
export function matchRules(match: MatchResources | undefined, path: string): FieldError[] {
  if (!match) return []
  return [
    ...oneOf(`${path}.matchPolicy`, match.matchPolicy, ['Equivalent', 'Exact']),
    ...validateLabelSelector(match.namespaceSelector, `${path}.namespaceSelector`),
    ...validateLabelSelector(match.objectSelector, `${path}.objectSelector`),
    ...(match.resourceRules ?? []).flatMap((rule, at) => admissionRule(rule, `${path}.resourceRules[${at}]`)),
    ...(match.excludeResourceRules ?? []).flatMap((rule, at) => admissionRule(rule, `${path}.excludeResourceRules[${at}]`)),
  ]
}

/** What is wrong with the kind of a policy's parameters. */
export function paramKindRules(kind: Wire<V1ParamKind> | undefined, path: string): FieldError[] {
  if (!kind) return []
  return [...(kind.apiVersion ? [] : [required(`${path}.apiVersion`)]), ...(kind.kind ? [] : [required(`${path}.kind`)])]
}

/** What is wrong with the reference to a policy's parameters. */
export function paramRefRules(ref: Wire<V1ParamRef> | undefined, path: string): FieldError[] {
  if (!ref) return []
  const errors: FieldError[] = []
  if (ref.name && ref.selector) errors.push(invalidValue(path, null, 'name and selector are mutually exclusive'))
  if (!ref.name && !ref.selector) errors.push(required(path, 'one of name or selector must be specified'))
  if (!ref.parameterNotFoundAction) errors.push(required(`${path}.parameterNotFoundAction`))
  return [
    ...errors,
    ...oneOf(`${path}.parameterNotFoundAction`, ref.parameterNotFoundAction, ['Deny', 'Allow']),
    ...validateLabelSelector(ref.selector, `${path}.selector`),
  ]
}

/** What is wrong with the names of variables; their expressions are compiled by admission. */
export function variableRules(variables: readonly Wire<V1Variable>[] | undefined, path: string): FieldError[] {
  const names = new Set<string>()
  return (variables ?? []).flatMap(({ name, expression }, at) => {
    const field = `${path}[${at}]`
    const errors = name ? follows(`${field}.name`, name, cIdentifier) : [required(`${field}.name`, 'name is not specified')]
    if (!expression?.trim()) errors.push(required(`${field}.expression`, 'expression is not specified'))
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name))
    names.add(name)
    return errors
  })
}
