/** Matches requests with rules: by operation, group, version, resource, subresource, scope and name. */
import type { ServedResource } from '../../registry/served-resource.ts'
import type { Operation } from '../../registry/write/admission.ts'

export interface ResourceRule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  /** Only rules of policies have these. Empty means all. */
  readonly resourceNames?: readonly string[]
}

/** The attributes of a request that rules match. */
export interface RequestTarget {
  readonly operation: Operation
  readonly subresource: string
  /** Undefined matches rules with any resourceNames. */
  readonly name: string | undefined
}

const has = (values: readonly string[] | undefined, value: string): boolean =>
  values !== undefined && (values.includes('*') || values.includes(value))

/** Returns true if a rule matches requests for `resource`. */
export function ruleMatches(
  rule: ResourceRule,
  resource: ServedResource,
  { operation, subresource, name }: RequestTarget,
): boolean {
  const { group, version, plural } = resource.definition
  if (!has(rule.operations, operation) || !has(rule.apiGroups, group) || !has(rule.apiVersions, version)) return false
  if (!(rule.resources ?? []).some((text) => resourceMatches(text, plural, subresource))) return false
  if (rule.scope === 'Namespaced' ? !resource.namespaced : rule.scope === 'Cluster' && resource.namespaced) return false
  return name === undefined || !rule.resourceNames?.length || rule.resourceNames.includes(name)
}

/**
 * Patterns: `pods`, `pods/status`, `*`, `pods/*`; a star also stands for any resource before a slash. Without a slash,
 * no subresource matches.
 */
function resourceMatches(text: string, plural: string, subresource: string): boolean {
  const [resource = '', sub = ''] = text.split('/')
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource)
}
