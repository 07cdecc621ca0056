/** An ABAC policy. */

import type { RequestInfo } from '../../request-info/request-info.ts'
import type { UserInfo } from '../../request-info/user-info.ts'

export interface Policy {
  readonly user: string
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

const reading: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** Returns true if a policy allows the user's request. */
export const allows = (policy: Policy, user: UserInfo | undefined, info: RequestInfo): boolean =>
  isFor(policy, user) &&
  (!policy.readonly || reading.has(info.verb)) &&
  (info.isResourceRequest ? coversResource(policy, info) : coversPath(policy, info.path))

/** A policy without user and group matches nobody. If it has both, both must match. */
export function isFor({ user, group }: Policy, who: UserInfo | undefined): boolean {
  if (!who || (!user && !group)) return false
  return (!user || user === '*' || user === who.name) && (!group || group === '*' || who.groups.includes(group))
}

const covers = (pattern: string, value: string): boolean => pattern === '*' || pattern === value

const coversResource = ({ namespace, resource, apiGroup }: Policy, info: RequestInfo): boolean =>
  covers(namespace, info.namespace) && covers(resource, info.resource) && covers(apiGroup, info.group)

const coversPath = ({ nonResourcePath }: Policy, path: string): boolean =>
  covers(nonResourcePath, path) ||
  (nonResourcePath.endsWith('*') && path.startsWith(nonResourcePath.replace(/\*+$/, '')))
