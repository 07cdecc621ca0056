/**
 * Audit policies select the requests that leave an event, and its level of detail (audit.k8s.io/v1 Policy). A policy is
 * compiled once; the configuration of each rule is shared by its events. Rules:
 * kubernetes.io/docs/reference/config-api/apiserver-audit.v1
 */

import type { RequestInfo } from '../../request-info/request-info.ts'
import type { UserInfo } from '../../request-info/user-info.ts'

export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type Level = (typeof levels)[number]

export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type Stage = (typeof stages)[number]

export interface PolicyRule {
  readonly level: Level
  readonly users?: readonly string[]
  readonly userGroups?: readonly string[]
  readonly verbs?: readonly string[]
  readonly resources?: readonly GroupResources[]
  readonly namespaces?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly omitStages?: readonly Stage[]
  readonly omitManagedFields?: boolean
}

export interface GroupResources {
  readonly group?: string
  /** `pods`, `pods/log`, `pods/*`, `*\/scale`, `*`. Empty means all. */
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface Policy {
  readonly rules: readonly PolicyRule[]
  readonly omitStages?: readonly Stage[]
  readonly omitManagedFields?: boolean
}

/** The parts of a request that its event contains. */
export interface AuditConfig {
  readonly level: Level
  readonly includesRequest: boolean
  readonly includesResponse: boolean
  readonly omitted: ReadonlySet<Stage>
  readonly omitManagedFields: boolean
}

/** Returns the configuration of a request's event; undefined for no event. */
export type PolicyEvaluator = (user: UserInfo | undefined, info: RequestInfo) => AuditConfig | undefined

type Matcher = (user: UserInfo | undefined, info: RequestInfo) => boolean

/** The first matching rule decides. Without one there is no event. */
export function compilePolicy({ rules, omitStages = [], omitManagedFields = false }: Policy): PolicyEvaluator {
  const compiled = rules.map((rule) => ({
    matches: matcherOf(rule),
    config:
      rule.level === 'None'
        ? undefined
        : {
            level: rule.level,
            includesRequest: rule.level !== 'Metadata',
            includesResponse: rule.level === 'RequestResponse',
            omitted: new Set([...omitStages, ...(rule.omitStages ?? [])]),
            omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
          },
  }))
  return (user, info) => {
    for (const { matches, config } of compiled) if (matches(user, info)) return config
    return undefined
  }
}

/** Only the criteria that a rule has are checked. */
function matcherOf({ users, userGroups, verbs, resources, namespaces, nonResourceURLs }: PolicyRule): Matcher {
  const parts: Matcher[] = []
  if (users?.length) {
    const names = new Set(users)
    parts.push((user) => user !== undefined && names.has(user.name))
  }
  if (userGroups?.length) {
    const groups = new Set(userGroups)
    parts.push((user) => user?.groups.some((group) => groups.has(group)) ?? false)
  }
  if (verbs?.length) {
    const named = new Set(verbs)
    parts.push((_user, { verb }) => named.has(verb))
  }
  if (namespaces?.length || resources?.length) parts.push(resourceMatcher(resources ?? [], new Set(namespaces)))
  else if (nonResourceURLs?.length)
    parts.push(
      (_user, { isResourceRequest, path }) =>
        !isResourceRequest && nonResourceURLs.some((url) => urlMatches(url, path)),
    )
  if (parts.length === 0) return () => true
  if (parts.length === 1) return parts[0]!
  return (user, info) => parts.every((part) => part(user, info))
}

/** Cluster-scoped objects have an empty namespace. */
const resourceMatcher =
  (resources: readonly GroupResources[], namespaces: ReadonlySet<string>): Matcher =>
  (_user, info) =>
    info.isResourceRequest &&
    (namespaces.size === 0 || namespaces.has(info.namespace)) &&
    (resources.length === 0 || resources.some((named) => groupMatches(named, info)))

function groupMatches({ group = '', resources = [], resourceNames = [] }: GroupResources, info: RequestInfo): boolean {
  if (group !== info.group) return false
  if (resources.length === 0) return true
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false
  const { resource, subresource } = info
  const combined = subresource ? `${resource}/${subresource}` : resource
  return resources.some(
    (named) =>
      named === '*' ||
      named === combined ||
      (subresource !== '' && named === `*/${subresource}`) ||
      (named.endsWith('/*') && named.slice(0, -2) === resource),
  )
}

const urlMatches = (url: string, path: string): boolean =>
  url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')))
