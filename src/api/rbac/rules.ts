/** Validation, defaults and columns of roles and bindings. */
import type { RbacV1Subject, V1PolicyRule, V1RoleRef } from '@kubernetes/client-node'
import type { KubeObject, Wire } from '../../machinery/object.ts'
import { type FieldError, invalidValue, notSupported, required } from '../../machinery/validation/field-error.ts'
import { follows } from '../../machinery/validation/field-rules.ts'
import { dnsSubdomain, pathSegment } from '../../machinery/validation/names.ts'
import { age, type Column, column, name, wide } from '../resource.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

/** Validates a role's rules. */
export function policyRules(
  rules: readonly Wire<V1PolicyRule>[] | undefined | null,
  namespaced: boolean,
): readonly FieldError[] {
  return (rules ?? []).flatMap((rule, at) => {
    const path = `rules[${at}]`
    const errors = rule.verbs?.length ? [] : [required(`${path}.verbs`, 'verbs must contain at least one value')]
    if (rule.nonResourceURLs?.length) {
      const urls = `${path}.nonResourceURLs`
      if (namespaced)
        errors.push(invalidValue(urls, rule.nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'))
      if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length)
        errors.push(
          invalidValue(
            urls,
            rule.nonResourceURLs,
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        )
      return errors
    }
    if (!rule.apiGroups?.length)
      errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'))
    if (!rule.resources?.length)
      errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'))
    return errors
  })
}

type Subject = Wire<RbacV1Subject>
type RoleRef = Wire<V1RoleRef>

export interface Binding extends KubeObject {
  roleRef: RoleRef
  subjects?: Subject[]
}

/** Sets the default API groups of subjects and roleRef. */
export function bindingDefaults(binding: Binding): void {
  binding.roleRef ??= { apiGroup: '', kind: '', name: '' }
  if (!binding.roleRef.apiGroup) binding.roleRef.apiGroup = rbacGroup
  for (const subject of binding.subjects ?? [])
    if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = rbacGroup
}

/** Validates a binding; `namespaced` ones may refer to Roles too. */
export function bindingRules({ roleRef, subjects }: Binding, namespaced: boolean): readonly FieldError[] {
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  const errors: FieldError[] = []
  if (roleRef.apiGroup !== rbacGroup) errors.push(notSupported('roleRef.apiGroup', roleRef.apiGroup, [rbacGroup]))
  if (!kinds.includes(roleRef.kind)) errors.push(notSupported('roleRef.kind', roleRef.kind ?? '', kinds))
  errors.push(...(roleRef.name ? follows(roleRef.name, 'roleRef.name', pathSegment) : [required('roleRef.name')]))
  subjects?.forEach((subject, at) => {
    errors.push(...subjectRules(subject, `subjects[${at}]`, namespaced))
  })
  return errors
}

function subjectRules(
  { kind, name: subjectName, namespace, apiGroup = '' }: Subject,
  path: string,
  namespaced: boolean,
): readonly FieldError[] {
  const errors = subjectName ? [] : [required(`${path}.name`)]
  switch (kind) {
    case 'ServiceAccount':
      if (subjectName) errors.push(...follows(subjectName, `${path}.name`, dnsSubdomain))
      if (apiGroup) errors.push(notSupported(`${path}.apiGroup`, apiGroup, ['']))
      if (!namespaced && !namespace) errors.push(required(`${path}.namespace`))
      return errors
    case 'User':
    case 'Group':
      return apiGroup === rbacGroup ? errors : [...errors, notSupported(`${path}.apiGroup`, apiGroup, [rbacGroup])]
    default:
      return [...errors, notSupported(`${path}.kind`, kind ?? '', ['ServiceAccount', 'User', 'Group'])]
  }
}

/** roleRef is immutable, so that permission to edit subjects does not allow to grant another role. */
export function roleRefUnchanged({ roleRef }: Binding, { roleRef: old }: Binding): readonly FieldError[] {
  if (roleRef.apiGroup === old.apiGroup && roleRef.kind === old.kind && roleRef.name === old.name) return []
  return [
    invalidValue(
      'roleRef',
      { APIGroup: roleRef.apiGroup, Kind: roleRef.kind, Name: roleRef.name },
      'cannot change roleRef',
    ),
  ]
}

const subjectsOf =
  (kind: string) =>
  ({ subjects }: Binding): string =>
    (subjects ?? [])
      .filter((subject) => subject.kind === kind)
      .map((subject) => (kind === 'ServiceAccount' ? `${subject.namespace ?? ''}/${subject.name}` : subject.name))
      .join(', ')

export const bindingColumns: readonly Column<Binding>[] = [
  name,
  column('Role', ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`, { description: 'The granted role.' }),
  age,
  wide('Users', subjectsOf('User'), { description: 'The users with the role.' }),
  wide('Groups', subjectsOf('Group'), { description: 'The groups with the role.' }),
  wide('ServiceAccounts', subjectsOf('ServiceAccount'), { description: 'The service accounts with the role.' }),
]
