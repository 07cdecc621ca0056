/**
 * Impersonation: `Impersonate-User`, `-Group`, `-Uid` and `-Extra-…` headers let a user act as another, if the authorizer allows one of the
 * modes for this request, or the verb `impersonate` on each of these (kubernetes.io/docs/reference/access-authn-authz/user-impersonation).
 */
import { goQuote } from '../../../lib/go/go-quote.ts'
import { forbidden, type StatusError } from '../../../machinery/status-error.ts'
import { anonymous, authenticated } from '../../authentication/authenticator.ts'
import { accountGroups, accountOf } from '../../authentication/service-accounts/account-name.ts'
import type { AccessAttributes, Authorizer, Decision } from '../../authorization/authorizer.ts'
import { attributesOf } from '../../authorization/selector-attributes.ts'
import { type Request, type Response, text, type UserInfo } from '../../http/exchange.ts'
import type { ImpersonationMetrics, ImpersonationModeName } from '../../metrics/impersonation-metrics.ts'
import type { Around } from '../filter.ts'
import { type ImpersonationMode, impersonationModes, nodeCalled, type WantedUser } from './impersonation-modes.ts'

const claimPrefix = 'impersonate-'

const extraPrefix = 'impersonate-extra-'
const authenticationGroup = 'authentication.k8s.io'

/** What a request wants to be: one resource a claim. */
interface Claim {
  /** As upstream calls it in the error about claims without a user. */
  readonly kind: 'ServiceAccount' | 'User' | 'Group' | 'UserExtra' | 'UID'
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  readonly namespace: string
}

export const impersonation =
  (authorizer: Authorizer, metrics: ImpersonationMetrics): Around =>
  (request, next) => {
    if (!request.hasHeaders(claimPrefix)) return next(request)
    const names = request.headerNames().filter((name) => name.startsWith(claimPrefix))
    const claims = claimsOf(request, names)
    if (claims.length === 0) return next(request)
    const user = first(request, 'impersonate-user')
    if (!user) return withoutUser(request, claims)
    return impersonate(authorizer, metrics, request, user, claims).then(() => next(request))
  }

const first = (request: Request, name: string): string => request.headerValues(name)[0] ?? ''

/** In upstream's order; a header that stands several times is several claims. */
function claimsOf(request: Request, names: readonly string[]): readonly Claim[] {
  const none = { group: '', subresource: '', namespace: '' }
  const claims: Claim[] = []
  const user = first(request, 'impersonate-user')
  const account = accountOf(user)
  if (account) claims.push({ ...none, kind: 'ServiceAccount', resource: 'serviceaccounts', ...account })
  else if (user) claims.push({ ...none, kind: 'User', resource: 'users', name: user })
  for (const name of request.headerValues('impersonate-group')) claims.push({ ...none, kind: 'Group', resource: 'groups', name })
  for (const header of names) {
    if (!header.startsWith(extraPrefix)) continue
    const subresource = unescaped(header.slice(extraPrefix.length))
    for (const name of request.headerValues(header)) {
      claims.push({ kind: 'UserExtra', group: authenticationGroup, resource: 'userextras', subresource, name, namespace: '' })
    }
  }
  const uid = first(request, 'impersonate-uid')
  if (uid) claims.push({ ...none, kind: 'UID', group: authenticationGroup, resource: 'uids', name: uid })
  return claims
}

/** Keys are escaped, since headers take fewer characters than keys. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** Makes the request somebody else's, if its user may. Rejects with 403 for the first claim that is not allowed. */
async function impersonate(authorizer: Authorizer, metrics: ImpersonationMetrics, request: Request, name: string, claims: readonly Claim[]): Promise<void> {
  const started = performance.now()
  const named = (kind: Claim['kind']): readonly string[] => claims.filter((claim) => claim.kind === kind).map((claim) => claim.name)
  const [uid = ''] = named('UID')
  const wanted: WantedUser = { name, uid, groups: named('Group'), extra: extraOf(claims) }
  // Who has the old right acts as ever, and pays nothing for the modes; upstream asks for it last.
  const refusal = await refusalOf(counted(authorizer, metrics, 'legacy'), request, claims)
  const mode = refusal && (await modeFor(authorizer, metrics, request, wanted, claims))
  metrics.attempted(refusal ? mode?.name : 'legacy', performance.now() - started)
  if (refusal && !mode) throw refusal
  // Of nodes the old right knows no more than the name.
  const groups = mode && nodeCalled(name) !== undefined ? authenticated(['system:nodes']) : groupsOf(name, wanted.groups)
  const claimed: UserInfo = { name, groups, ...(uid && { uid }), ...(wanted.extra.size > 0 && { extra: Object.fromEntries(wanted.extra) }) }
  request.user = claimed
  if (mode) request.impersonationConstraint = `impersonate:${mode.name}`
}

type Ask = (attributes: AccessAttributes) => Promise<Decision>

/** The authorizer, whose answers are counted. */
const counted =
  (authorizer: Authorizer, metrics: ImpersonationMetrics, mode: ImpersonationModeName): Ask =>
  async (attributes) => {
    const started = performance.now()
    const decision = await authorizer.authorize(attributes)
    metrics.asked(mode, decision.verdict === 'allow', performance.now() - started)
    return decision
  }

/** The first mode that allows both to be this user and to do this as such a one. */
async function modeFor(
  authorizer: Authorizer,
  metrics: ImpersonationMetrics,
  request: Request,
  wanted: WantedUser,
  claims: readonly Claim[],
): Promise<ImpersonationMode | undefined> {
  const { user } = request
  if (!user) return undefined
  const { fieldSelector, labelSelector } = attributesOf(request)
  for (const mode of impersonationModes) {
    if (!mode.applies(wanted, user)) continue
    const asking = mode.asking?.(user) ?? user
    const ask = counted(authorizer, metrics, mode.name)
    const allows = async (asked: AccessAttributes): Promise<boolean> => (await ask({ ...asked, user: asking })).verdict === 'allow'
    const info = { ...request.info, verb: `impersonate-on:${mode.name}:${request.info.verb}` }
    if (!(await allows({ info, fieldSelector, labelSelector }))) continue
    const verb = `impersonate:${mode.name}`
    const isAllowed = (claim: Claim): Promise<boolean> => allows({ info: infoOf(request, inMode(claim, mode), verb) })
    if (await areAllowed(claims, isAllowed)) return mode
  }
}

/** In upstream's order; a service account is a user. */
const kinds: readonly (readonly Claim['kind'][])[] = [['ServiceAccount', 'User'], ['UID'], ['Group'], ['UserExtra']]

/** Of so many of a kind it is asked first whether all are allowed. */
const many = 4

/** Whether each claim is allowed; who may claim all of a kind is not asked about every one. */
async function areAllowed(claims: readonly Claim[], isAllowed: (claim: Claim) => Promise<boolean>): Promise<boolean> {
  for (const kind of kinds) {
    const some = claims.filter((claim) => kind.includes(claim.kind))
    const [claim] = some
    if (claim && some.length >= many && (await isAllowed({ ...claim, name: '*', subresource: claim.subresource && '*' }))) continue
    for (const each of some) if (!(await isAllowed(each))) return false
  }
  return true
}

/** Modes know all claims in one group, and nodes as such. */
function inMode(claim: Claim, { node }: ImpersonationMode): Claim {
  const called = claim.kind === 'User' ? nodeCalled(claim.name) : undefined
  return { ...claim, group: authenticationGroup, ...(called !== undefined && { resource: 'nodes', name: node ?? called }) }
}

function extraOf(claims: readonly Claim[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (const { kind, subresource, name } of claims) if (kind === 'UserExtra') values.set(subresource, [...(values.get(subresource) ?? []), name])
  return values
}

/** Service accounts bring their groups; everybody but the anonymous user is authenticated. */
function groupsOf(user: string, groups: readonly string[]): readonly string[] {
  if (user === anonymous.name) return [...groups, ...anonymous.groups.filter((group) => !groups.includes(group))]
  const account = accountOf(user)
  return authenticated(account && groups.length === 0 ? accountGroups(account.namespace) : groups)
}

const infoOf = ({ info }: Request, { group, resource, subresource, name, namespace }: Claim, verb: string): Request['info'] => ({
  ...info,
  group,
  version: 'v1',
  resource,
  subresource,
  name,
  namespace,
  isResourceRequest: true,
  verb,
  rest: [],
})

/** What the old right says of the first claim that it does not allow. */
async function refusalOf(ask: Ask, request: Request, claims: readonly Claim[]): Promise<StatusError | undefined> {
  const { user } = request
  for (const claim of claims) {
    const { verdict, reason } = await ask({ user, info: infoOf(request, claim, 'impersonate') })
    if (verdict === 'allow') continue
    const { group, resource, subresource, name, namespace } = claim
    const named = subresource ? `${resource}/${subresource}` : resource
    const scope = namespace ? `in the namespace ${goQuote(namespace)}` : 'at the cluster scope'
    const why = `User ${goQuote(user?.name ?? '')} cannot impersonate resource ${goQuote(named)} in API group ${goQuote(group)} ${scope}`
    return forbidden({ group, name: resource }, name, reason ? `${why}: ${reason}` : why)
  }
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Groups and the rest belong to a user. Upstream answers with a plain text that shows what was claimed as Go prints it. */
function withoutUser({ path, rawQuery }: Request, claims: readonly Claim[]): Response {
  const uri = `${path}${rawQuery && `?${rawQuery}`}`.replace(/[&<>]/g, (character) => escapes[character]!)
  const shown = claims.map(({ kind, name, group, subresource }) => `{${kind}  ${name}  ${group && `${group}/v1`}  ${subresource}}`)
  return text(500, `Internal Server Error: ${goQuote(uri)}: requested [${shown.join(' ')}] without impersonating a user\n`)
}
