/** What is asked by `t8s why can-i`: the words of the command line as a question to an authorizer. */
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

export interface Asking {
  readonly asked: Question
  /** What is worth knowing about the question itself. */
  readonly notes: readonly string[]
}

const nowhere = { group: '', resource: '', subresource: '', name: '', namespace: '' }

/** Throws an ExplainedError for words that do not go together. `usual` is the namespace unless one is named. */
export async function question(server: WhyServer, usual: string, words: Words): Promise<Asking> {
  const { verb, resource: text, allNamespaces, subresource: given, name = '' } = words
  if (text.startsWith('/')) {
    if (given || name || words.namespace || allNamespaces)
      throw new ExplainedError(
        `${text} is a path: it has no namespace, name or subresource; leave out -n, -A, --name and --subresource`,
      )
    return { asked: { ...nowhere, isResourceRequest: false, path: text, verb }, notes: [] }
  }
  const [word = '', ...rest] = text.split('/')
  const subresource = given ?? rest.join('/')
  if (given && rest.length > 0)
    throw new ExplainedError(`${text} names a subresource, and so does --subresource: leave out one of them`)
  const everything = word === '*'
  const known = everything ? undefined : await server.resource(word)
  const notes: string[] = []
  if (!known && !everything)
    notes.push(`the server knows no resource ${JSON.stringify(word)}: the words are asked for as they stand`)
  if (verb !== verb.toLowerCase())
    notes.push(`verbs are in lower case: nothing but a rule with "*" or ${JSON.stringify(verb)} matches it`)
  const namespaced = known?.namespaced ?? true
  if (!namespaced && words.namespace)
    notes.push(`${known!.name} are in no namespace: the question is about all of the cluster`)
  const [plain = '', ...group] = word.split('.')
  return {
    asked: {
      isResourceRequest: true,
      path: '',
      verb,
      group: known?.group ?? (everything ? '*' : group.join('.')),
      resource: known?.name ?? plain,
      subresource,
      name,
      namespace: namespaced && !allNamespaces ? (words.namespace ?? usual) : '',
    },
    notes,
  }
}

/** Somebody who has logged in: their groups are those given, and those that everybody or every service account has. */
export function userOf(name: string, groups: readonly string[]): UserInfo {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name) ?? []
  const own = namespace ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`] : []
  const known = name === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated'
  return { name, groups: [...new Set([...groups, ...own, known])] }
}
