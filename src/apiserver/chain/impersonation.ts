/**
 * Impersonation: `Impersonate-User`, `-Group`, `-Uid` and `-Extra-…` headers let a user act as another, if the authorizer
 * allows the verb `impersonate` on each of these (kubernetes.io/docs/reference/access-authn-authz/authentication).
 */

import { forbidden, internal } from '../../machinery/status-error.ts'
import { authenticated } from '../authentication/authenticator.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { Request, UserInfo } from '../http/exchange.ts'
import type { Filter } from './filter.ts'

const extraPrefix = 'impersonate-extra-'
const serviceAccountName = /^system:serviceaccount:([^:]+):([^:]+)$/

/** What a request wants to be: one resource a claim. */
interface Claim {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  readonly namespace: string
}

/** Header values that stand several times come as one text with commas. */
const values = (request: Request, name: string): string[] =>
  (request.header(name) ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter(Boolean)

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const impersonation =
  (authorizer: Authorizer): Filter =>
  (request, next) => {
    const names = request.headerNames().filter((name) => name.startsWith('impersonate-'))
    if (names.length === 0) return next(request)
    return impersonate(authorizer, request, names).then(() => next(request))
  }

/** Makes the request somebody else's, if its headers ask for that and its user may. */
async function impersonate(authorizer: Authorizer, request: Request, names: readonly string[]): Promise<void> {
  const user = request.header('impersonate-user')
  const groups = values(request, 'impersonate-group')
  const uid = request.header('impersonate-uid')
  const extra = names.filter((name) => name.startsWith(extraPrefix))
  if (!user && !groups.length && !uid && !extra.length) return
  if (!user) throw internal(`requested ${JSON.stringify([...groups, uid, ...extra].filter(Boolean))} without impersonating a user`)
  const claimed: UserInfo = {
    name: user,
    groups: impersonatedGroups(user, groups),
    ...(uid && { uid }),
    ...(extra.length && { extra: Object.fromEntries(extra.map((name) => [decoded(name.slice(extraPrefix.length)), values(request, name).map(decoded)])) }),
  }
  for (const claim of claims(user, groups, uid, claimed.extra)) await check(request, authorizer, claim)
  request.user = claimed
}

/** Service accounts bring their groups; everybody but the anonymous user is authenticated. */
function impersonatedGroups(user: string, groups: readonly string[]): readonly string[] {
  if (user === 'system:anonymous') return groups.length ? groups : ['system:unauthenticated']
  const [, namespace, account] = serviceAccountName.exec(user) ?? []
  const own = account && !groups.length ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`] : groups
  return authenticated(own)
}

function claims(user: string, groups: readonly string[], uid: string | undefined, extra: UserInfo['extra']): Claim[] {
  const none = { group: '', subresource: '', namespace: '' }
  const [, namespace, account] = serviceAccountName.exec(user) ?? []
  const list: Claim[] = [account ? { ...none, resource: 'serviceaccounts', name: account, namespace: namespace! } : { ...none, resource: 'users', name: user }]
  for (const name of groups) list.push({ ...none, resource: 'groups', name })
  if (uid) list.push({ ...none, group: 'authentication.k8s.io', resource: 'uids', name: uid })
  for (const [key, entries] of Object.entries(extra ?? {}))
    for (const name of entries) list.push({ ...none, group: 'authentication.k8s.io', resource: 'userextras', subresource: key, name })
  return list
}

async function check({ user, info }: Request, authorizer: Authorizer, claim: Claim): Promise<void> {
  const decision = await authorizer.authorize({ user, info: { ...info, ...claim, isResourceRequest: true, verb: 'impersonate', rest: [] } })
  if (decision.verdict === 'allow') return
  const resource = claim.subresource ? `${claim.resource}/${claim.subresource}` : claim.resource
  const scope = claim.namespace ? `in the namespace ${JSON.stringify(claim.namespace)}` : 'at the cluster scope'
  throw forbidden(
    { group: claim.group, name: resource },
    claim.name,
    `User ${JSON.stringify(user?.name ?? '')} cannot impersonate resource ${JSON.stringify(resource)} in API group ${JSON.stringify(claim.group)} ${scope}`,
  )
}
