/** Converts the command line of `t8s why can-i` to attributes for an authorizer. */
import type { Question } from '../../apiserver/authorization/rbac/explain.ts'
import type { UserInfo } from '../../apiserver/request-info/user-info.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { WhyServer } from './server.ts'

export interface Words {
  readonly verb: string
  readonly resource: string
  readonly namespace?: string
  readonly allNamespaces?: boolean
  readonly subresource?: string
  readonly name?: string
}

export interface ParsedQuestion {
  readonly question: Question
  /** Notes about the command line. */
  readonly notes: readonly string[]
}

const noResource = { group: '', resource: '', subresource: '', name: '', namespace: '' }

/** Throws an ExplainedError for contradicting arguments. */
export async function parseQuestion(
  server: WhyServer,
  defaultNamespace: string,
  words: Words,
): Promise<ParsedQuestion> {
  const { verb, resource: text, allNamespaces, subresource: given, name = '' } = words
  if (text.startsWith('/')) {
    if (given || name || words.namespace || allNamespaces)
      throw new ExplainedError(
        `${text} is a path: it has no namespace, name or subresource; omit -n, -A, --name and --subresource`,
      )
    return { question: { ...noResource, isResourceRequest: false, path: text, verb }, notes: [] }
  }
  const [word = '', ...rest] = text.split('/')
  const subresource = given ?? rest.join('/')
  if (given && rest.length > 0)
    throw new ExplainedError(`${text} and --subresource both name a subresource: omit one of them`)
  const isWildcard = word === '*'
  const known = isWildcard ? undefined : await server.resource(word)
  const notes: string[] = []
  if (!known && !isWildcard) notes.push(`the server has no resource ${JSON.stringify(word)}: it is used as typed`)
  if (verb !== verb.toLowerCase())
    notes.push(`verbs are lower-case: only a rule with "*" or ${JSON.stringify(verb)} matches`)
  const namespaced = known?.namespaced ?? true
  if (!namespaced && words.namespace) notes.push(`${known!.name} are cluster-scoped: the namespace is ignored`)
  const [plain = '', ...group] = word.split('.')
  return {
    question: {
      isResourceRequest: true,
      path: '',
      verb,
      group: known?.group ?? (isWildcard ? '*' : group.join('.')),
      resource: known?.name ?? plain,
      subresource,
      name,
      namespace: namespaced && !allNamespaces ? (words.namespace ?? defaultNamespace) : '',
    },
    notes,
  }
}

/** An authenticated user with the given groups and the groups of all users or service accounts. */
export function userOf(name: string, groups: readonly string[]): UserInfo {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name) ?? []
  const own = namespace ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`] : []
  const known = name === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated'
  return { name, groups: [...new Set([...groups, ...own, known])] }
}
