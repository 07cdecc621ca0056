/** Policy rules of roles, and matching of requests. */
import type { RequestInfo } from '../../request-info/request-info.ts'

/** A rule of a role. Empty lists may be missing or null, since clients write them. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[] | null
  readonly resources?: readonly string[] | null
  readonly resourceNames?: readonly string[] | null
  readonly nonResourceURLs?: readonly string[] | null
}

/** A subject of a binding. */
export interface Subject {
  readonly kind: string
  readonly apiGroup?: string
  readonly name: string
  readonly namespace?: string
}

export interface RoleRef {
  readonly apiGroup: string
  readonly kind: string
  readonly name: string
}

/** The attributes of a request that rules match: a part of RequestInfo. */
export type RuleAttributes = Pick<
  RequestInfo,
  'isResourceRequest' | 'verb' | 'group' | 'resource' | 'subresource' | 'name' | 'path'
>

const has = (list: readonly string[] | null | undefined, value: string): boolean => list?.includes(value) === true

/** As upstream, verbs are case-sensitive. */
export const verbMatches = ({ verbs }: PolicyRule, verb: string): boolean => has(verbs, '*') || has(verbs, verb)

export const groupMatches = ({ apiGroups }: PolicyRule, group: string): boolean =>
  has(apiGroups, '*') || has(apiGroups, group)

/**
 * `*` matches every resource and subresource, `*` + `/scale` that subresource of all resources; `deployments/*` matches
 * nothing.
 */
export const resourceMatches = ({ resources }: PolicyRule, resource: string, subresource: string): boolean =>
  has(resources, '*') ||
  has(resources, subresource ? `${resource}/${subresource}` : resource) ||
  (subresource !== '' && has(resources, `*/${subresource}`))

/** A rule without names matches all names. */
export const nameMatches = ({ resourceNames }: PolicyRule, name: string): boolean =>
  !resourceNames?.length || resourceNames.includes(name)

/** `/logs/*` matches paths that begin with `/logs/`; a star elsewhere is a literal character. */
export const urlMatches = ({ nonResourceURLs }: PolicyRule, path: string): boolean =>
  nonResourceURLs?.some((url) => urlCovers(url, path)) === true

const urlCovers = (url: string, path: string): boolean =>
  url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')))

/** Returns true if a rule's path covers a wanted path, which may end with a star itself. */
export const ownedUrl = urlCovers

/** Returns true if a rule allows the request. */
export function ruleAllows(
  rule: PolicyRule,
  { isResourceRequest, verb, group, resource, subresource, name, path }: RuleAttributes,
): boolean {
  if (!verbMatches(rule, verb)) return false
  if (!isResourceRequest) return urlMatches(rule, path)
  return groupMatches(rule, group) && resourceMatches(rule, resource, subresource) && nameMatches(rule, name)
}
