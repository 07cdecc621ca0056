/**
 * FlowSchemas, compiled when they change, so that matching compares only a few strings. The rules are documented in
 * kubernetes.io/docs/concepts/cluster-administration/flow-control.
 */
import type { V1NonResourcePolicyRule, V1PolicyRulesWithSubjects, V1ResourcePolicyRule } from '@kubernetes/client-node'
import type { FlowSchema } from '../../api/flowcontrol/bootstrap-objects.ts'
import type { Wire } from '../../machinery/object.ts'
import type { Request } from '../http/exchange.ts'
import type { RequestInfo } from '../request-info/request-info.ts'
import type { UserInfo } from '../request-info/user-info.ts'

/** The properties of a request that schemas match. */
export type Classified = Pick<Request, 'info'> & { readonly user?: Pick<UserInfo, 'name' | 'groups'> }

type Matches<T> = (value: T) => boolean

/** Matches any string of a list; undefined for `*` alone, which matches everything. */
function anyOf(list: readonly string[] | undefined): Matches<string> | undefined {
  if (!list || list.length === 0) return () => false
  if (list.length === 1) {
    const [only] = list
    return only === '*' ? undefined : (value) => value === only
  }
  const all = new Set(list)
  return (value) => all.has(value)
}

const serviceAccount = /^system:serviceaccount:([^:]+):(.+)$/

interface Subjects {
  readonly users: ReadonlySet<string>
  readonly groups: readonly string[]
  readonly allUsers: boolean
  /** Prefixes of the user names of all accounts of a namespace. */
  readonly namespaces: readonly string[]
}

function subjectsOf(subjects: Wire<V1PolicyRulesWithSubjects>['subjects']): Subjects {
  const users = new Set<string>()
  const groups: string[] = []
  const namespaces: string[] = []
  let allUsers = false
  for (const { user, group, serviceAccount: account } of subjects ?? []) {
    if (user?.name === '*' || group?.name === '*') allUsers = true
    else if (user) users.add(user.name)
    else if (group) groups.push(group.name)
    else if (account) {
      if (account.name === '*') namespaces.push(`system:serviceaccount:${account.namespace}:`)
      else users.add(`system:serviceaccount:${account.namespace}:${account.name}`)
    }
  }
  return { users, groups, allUsers, namespaces }
}

function hasSubject(
  { users, groups, allUsers, namespaces }: Subjects,
  name: string,
  member: readonly string[],
): boolean {
  if (allUsers || users.has(name)) return true
  for (const group of groups) if (member.includes(group)) return true
  for (const prefix of namespaces) if (name.startsWith(prefix) && serviceAccount.test(name)) return true
  return false
}

function resourceRule({
  verbs,
  apiGroups,
  resources,
  namespaces,
  clusterScope,
}: Wire<V1ResourcePolicyRule>): Matches<RequestInfo> {
  const verb = anyOf(verbs)
  const group = anyOf(apiGroups)
  const resource = anyOf(resources)
  const namespace = anyOf(namespaces)
  return (info) =>
    (!verb || verb(info.verb)) &&
    (!resource || resource(info.subresource ? `${info.resource}/${info.subresource}` : info.resource)) &&
    (!group || group(info.group)) &&
    (info.namespace === '' ? clusterScope === true : !namespace || namespace(info.namespace))
}

function pathRule({ verbs, nonResourceURLs }: Wire<V1NonResourcePolicyRule>): Matches<RequestInfo> {
  const verb = anyOf(verbs)
  const all = nonResourceURLs.includes('*')
  const exact = new Set(nonResourceURLs)
  // A path matches its sub-paths too.
  const prefixes = nonResourceURLs.map((url) => url.replace(/\*$/, '').replace(/\/?$/, '/'))
  return ({ verb: given, path }) =>
    (!verb || verb(given)) && (all || exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix)))
}

interface Rule {
  readonly subjects: Subjects
  readonly resources: readonly Matches<RequestInfo>[]
  readonly paths: readonly Matches<RequestInfo>[]
}

export class CompiledSchema {
  readonly name: string
  readonly uid: string
  readonly level: string
  readonly precedence: number
  readonly #rules: readonly Rule[]
  readonly #method: string | undefined

  constructor({ metadata, spec }: FlowSchema) {
    this.name = metadata.name ?? ''
    this.uid = metadata.uid ?? ''
    this.level = spec?.priorityLevelConfiguration.name ?? ''
    this.precedence = spec?.matchingPrecedence ?? 0
    this.#method = spec?.distinguisherMethod?.type
    this.#rules = (spec?.rules ?? []).map(({ subjects, resourceRules, nonResourceRules }) => ({
      subjects: subjectsOf(subjects),
      resources: (resourceRules ?? []).map(resourceRule),
      paths: (nonResourceRules ?? []).map(pathRule),
    }))
  }

  /** Returns true if a rule applies to a user at all. */
  mayApplyTo({ name, groups }: Pick<UserInfo, 'name' | 'groups'>): boolean {
    return this.#rules.some(({ subjects }) => hasSubject(subjects, name, groups))
  }

  matches({ info, user }: Classified): boolean {
    const name = user?.name ?? ''
    const groups = user?.groups ?? []
    for (const { subjects, resources, paths } of this.#rules) {
      const rules = info.isResourceRequest ? resources : paths
      if (rules.length === 0 || !hasSubject(subjects, name, groups)) continue
      for (const matches of rules) if (matches(info)) return true
    }
    return false
  }

  /** The value that distinguishes the flows of a schema. */
  distinguisher({ info, user }: Classified): string {
    return this.#method === 'ByUser' ? (user?.name ?? '') : this.#method === 'ByNamespace' ? info.namespace : ''
  }
}

/** Sorts schemas by precedence, the lowest first, then by name. */
export const sortByPrecedence = (schemas: readonly CompiledSchema[]): readonly CompiledSchema[] =>
  [...schemas].sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1))
