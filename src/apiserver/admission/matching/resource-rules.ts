/** Which requests rules mean: by operation, group, version, resource, subresource, scope and name. */
import type { ServedResource } from '../../registry/served-resource.ts'
import type { Operation } from '../../registry/write/admission.ts'

export interface ResourceRule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  /** Only policies have these: none means all. */
  readonly resourceNames?: readonly string[]
}

/** What a request is about, as far as rules go. */
export interface RequestTarget {
  readonly operation: Operation
  readonly subresource: string
  /** Undefined: rules that name objects count as if they meant this one. */
  readonly name: string | undefined
}

const has = (values: readonly string[] | undefined, value: string): boolean =>
  values !== undefined && (values.includes('*') || values.includes(value))

/** Whether a rule means requests for `resource`. */
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

/** `pods`, `pods/status`, `*`, `pods/*`, `*` and any subresource; without a slash no subresource is meant. */
function resourceMatches(text: string, plural: string, subresource: string): boolean {
  const [resource = '', sub = ''] = text.split('/')
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource)
}
