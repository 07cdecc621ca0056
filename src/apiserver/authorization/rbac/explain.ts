/**
 * Explains a decision of RBAC: the bindings that allow an action, or the closest ones that do not and why. Reads all
 * roles and bindings: for diagnosis by people, not for requests.
 */
import type { UserInfo } from '../../request-info/user-info.ts'
import { type BoundRole, describe } from './role-bindings.ts'
import {
  groupMatches,
  nameMatches,
  type PolicyRule,
  type RuleAttributes,
  resourceMatches,
  ruleAllows,
  type Subject,
  urlMatches,
  verbMatches,
} from './rule.ts'

export interface NamedRole {
  readonly kind: 'Role' | 'ClusterRole'
  /** Empty for a ClusterRole. */
  readonly namespace: string
  readonly name: string
  readonly rules: readonly PolicyRule[]
}

export interface Roles {
  readonly roles: readonly NamedRole[]
  readonly bindings: readonly BoundRole[]
}

/** A field of a request that a rule can fail to match. */
export type Part = 'verb' | 'API group' | 'resource' | 'name' | 'path'

export interface Grant {
  /** For example `RoleBinding "view/default" of ClusterRole "view" to User "jane"`. */
  readonly binding: string
  readonly rule: PolicyRule
}

export type Miss =
  /** The user has the role, but its closest rule does not match. */
  | { readonly why: 'rule'; readonly binding: string; readonly rule: PolicyRule; readonly parts: readonly Part[] }
  /** The user has the permission, but only within `namespace`. */
  | { readonly why: 'elsewhere'; readonly binding: string; readonly namespace: string }
  /** Others have the permission here. */
  | { readonly why: 'others'; readonly binding: string; readonly role: string; readonly subjects: readonly Subject[] }
  /** The binding refers to a missing role. */
  | { readonly why: 'no role'; readonly binding: string }
  /** The role has the permission, but is not bound here. */
  | { readonly why: 'unbound'; readonly role: NamedRole }

export interface Explanation {
  readonly allowed: readonly Grant[]
  /** The closest first; empty if the action is allowed. */
  readonly misses: readonly Miss[]
}

export type Question = RuleAttributes & { readonly namespace: string }

/** Returns at most `limit` misses of each kind. */
export function explain({ roles, bindings }: Roles, user: UserInfo, question: Question, limit = 3): Explanation {
  const byKey = new Map(roles.map((role) => [keyOf(role.kind, role.namespace, role.name), role]))
  const roleOf = ({ roleRef, namespace }: BoundRole) =>
    byKey.get(keyOf(roleRef.kind, roleRef.kind === 'Role' ? namespace : '', roleRef.name))
  const reaches = ({ namespace }: BoundRole): boolean =>
    namespace === '' || (question.isResourceRequest && namespace === question.namespace)
  const allowed: Grant[] = []
  const near: Extract<Miss, { why: 'rule' }>[] = []
  const misses: Record<Exclude<Miss['why'], 'rule'>, Miss[]> = { elsewhere: [], others: [], 'no role': [], unbound: [] }
  const bound = new Set<NamedRole>()
  for (const binding of bindings) {
    const role = roleOf(binding)
    const subject = binding.subjects.find((one) => isSubject(one, user, binding.namespace))
    const allowing = role?.rules.find((rule) => ruleAllows(rule, question))
    const text = subject ? describe(binding, subject) : ''
    if (subject && reaches(binding)) {
      if (allowing) allowed.push({ binding: text, rule: allowing })
      else if (!role) misses['no role'].push({ why: 'no role', binding: text })
      else {
        const nearest = nearestRule(role.rules, question)
        if (nearest) near.push({ why: 'rule', binding: text, ...nearest })
      }
    } else if (subject && allowing)
      misses.elsewhere.push({ why: 'elsewhere', binding: text, namespace: binding.namespace })
    else if (role && allowing && reaches(binding) && binding.subjects.length > 0) {
      bound.add(role)
      misses.others.push({
        why: 'others',
        binding: describe(binding, binding.subjects[0]!),
        role: role.name,
        subjects: binding.subjects,
      })
    }
  }
  if (allowed.length > 0) return { allowed, misses: [] }
  const usable = (role: NamedRole): boolean => role.kind === 'ClusterRole' || role.namespace === question.namespace
  for (const role of roles) {
    if (!bound.has(role) && usable(role) && role.rules.some((rule) => ruleAllows(rule, question)))
      misses.unbound.push({ why: 'unbound', role })
  }
  near.sort((a, b) => a.parts.length - b.parts.length)
  misses.unbound.sort((a, b) => breadth(a) - breadth(b))
  const sorted = [
    misses['no role'],
    near,
    misses.elsewhere,
    leastSystemSpecific(misses.others),
    leastSystemSpecific(misses.unbound, misses.others.length > 0 ? 1 : 3),
  ]
  return { allowed, misses: sorted.flatMap((some) => some.slice(0, limit)) }
}

/** System roles and cluster-admin are of interest only if there are no others. */
function leastSystemSpecific(misses: readonly Miss[], most = 3): readonly Miss[] {
  const least = Math.min(most, ...misses.map(systemRank))
  return misses.filter((miss) => systemRank(miss) === least)
}

function systemRank(miss: Miss): number {
  if (miss.why === 'unbound')
    return miss.role.name === 'cluster-admin' ? 1 : miss.role.name.startsWith('system:') ? 2 : 0
  if (miss.why !== 'others' || (miss.role !== 'cluster-admin' && !miss.role.startsWith('system:'))) return 0
  // A user may join a group, but cannot become a component's account.
  return miss.role === 'cluster-admin' ? 2 : miss.subjects.some(({ kind }) => kind === 'Group') ? 1 : 3
}

const keyOf = (kind: string, namespace: string, name: string): string => `${kind}/${namespace}/${name}`

/** Roles of the namespace come before cluster roles, and narrow roles before broad ones. */
const breadth = (miss: Miss): number =>
  miss.why === 'unbound' ? (miss.role.kind === 'Role' ? 0 : 1000) + miss.role.rules.length : 0

function isSubject({ kind, name, namespace: own }: Subject, user: UserInfo, namespace: string): boolean {
  if (kind === 'User') return name === user.name
  if (kind === 'Group') return user.groups.includes(name)
  return kind === 'ServiceAccount' && user.name === `system:serviceaccount:${own || namespace}:${name}`
}

/** The rule that fails in the fewest fields, if it matches at least the resource or path, or all else. */
function nearestRule(
  rules: readonly PolicyRule[],
  question: Question,
): { readonly rule: PolicyRule; readonly parts: readonly Part[] } | undefined {
  const candidates = rules
    .map((rule) => ({ rule, parts: missedParts(rule, question) }))
    .filter(
      ({ parts }) =>
        parts.length === 1 || (parts.length === 2 && !parts.includes('resource') && !parts.includes('path')),
    )
  return candidates.sort((a, b) => a.parts.length - b.parts.length)[0]
}

function missedParts(
  rule: PolicyRule,
  { isResourceRequest, verb, group, resource, subresource, name, path }: Question,
): Part[] {
  const parts: Part[] = verbMatches(rule, verb) ? [] : ['verb']
  if (!isResourceRequest)
    return rule.nonResourceURLs?.length
      ? [...parts, ...(urlMatches(rule, path) ? [] : (['path'] as const))]
      : ['verb', 'path']
  if (!rule.resources?.length) return ['verb', 'resource']
  if (!groupMatches(rule, group)) parts.push('API group')
  if (!resourceMatches(rule, resource, subresource)) parts.push('resource')
  if (!nameMatches(rule, name)) parts.push('name')
  return parts
}
