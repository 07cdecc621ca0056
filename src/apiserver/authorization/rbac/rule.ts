/** Policy rules of roles: what one says, and whether it allows a request. */
import type { RequestInfo } from '../../request-info/request-info.ts'

/** As in a role. Lists that are empty may be left out or null, as in objects that others wrote. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[] | null
  readonly resources?: readonly string[] | null
  readonly resourceNames?: readonly string[] | null
  readonly nonResourceURLs?: readonly string[] | null
}

/** Who a binding gives its role to. */
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

/** What is asked for, as far as rules look at it: RequestInfo is one. */
export type Asked = Pick<
  RequestInfo,
  'isResourceRequest' | 'verb' | 'group' | 'resource' | 'subresource' | 'name' | 'path'
>

const has = (list: readonly string[] | null | undefined, value: string): boolean => list?.includes(value) === true

/** Upper case in a verb is a verb of its own, as upstream. */
export const verbMatches = ({ verbs }: PolicyRule, verb: string): boolean => has(verbs, '*') || has(verbs, verb)

export const groupMatches = ({ apiGroups }: PolicyRule, group: string): boolean =>
  has(apiGroups, '*') || has(apiGroups, group)

/** `*` is every resource and subresource, `*` + `/scale` that subresource of all; `deployments/*` matches nothing. */
export const resourceMatches = ({ resources }: PolicyRule, resource: string, subresource: string): boolean =>
  has(resources, '*') ||
  has(resources, subresource ? `${resource}/${subresource}` : resource) ||
  (subresource !== '' && has(resources, `*/${subresource}`))

/** A rule without names is about all. */
export const nameMatches = ({ resourceNames }: PolicyRule, name: string): boolean =>
  !resourceNames?.length || resourceNames.includes(name)

/** `/logs/*` matches what begins with `/logs/`; a star elsewhere is a letter like others. */
export const urlMatches = ({ nonResourceURLs }: PolicyRule, path: string): boolean =>
  nonResourceURLs?.some((url) => urlCovers(url, path)) === true

const urlCovers = (url: string, path: string): boolean =>
  url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')))

/** Whether one rule of an owner covers a path of a rule, which may end with a star itself. */
export const ownedUrl = urlCovers

/** Whether a rule alone allows what is asked for. */
export function ruleAllows(
  rule: PolicyRule,
  { isResourceRequest, verb, group, resource, subresource, name, path }: Asked,
): boolean {
  if (!verbMatches(rule, verb)) return false
  if (!isResourceRequest) return urlMatches(rule, path)
  return groupMatches(rule, group) && resourceMatches(rule, resource, subresource) && nameMatches(rule, name)
}
