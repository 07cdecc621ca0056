/**
 * Impersonation: `Impersonate-User`, `-Group`, `-Uid` and `-Extra-…` headers let a user act as another, if the
 * authorizer allows one of the modes for this request
 * (kubernetes.io/docs/reference/access-authn-authz/user-impersonation).
 */
import { defaultFeatures, type FeatureGates } from '../../../api/features/feature-gates.ts'
import { goQuote } from '../../../lib/go/go-quote.ts'
import { badRequest, type StatusError } from '../../../machinery/status-error.ts'
import { anonymous, authenticated } from '../../authentication/authenticator.ts'
import { accountGroups, accountOf } from '../../authentication/service-accounts/account-name.ts'
import type { AccessAttributes, Authorizer } from '../../authorization/authorizer.ts'
import { forbiddenError } from '../../authorization/forbidden-error.ts'
import { attributesOf } from '../../authorization/selector-attributes.ts'
import type { Request } from '../../http/exchange.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { WrappingFilter } from '../filter.ts'
import type { ImpersonationMetrics } from './impersonation-metrics.ts'
import {
  extraFault,
  groupFault,
  type ImpersonatedUser,
  type ImpersonationMode,
  impersonationModes,
  nodeNameOf,
} from './impersonation-modes.ts'

const headerPrefix = 'impersonate-'
const extraPrefix = 'impersonate-extra-'
const authenticationGroup = 'authentication.k8s.io'

/** Users whose last mode is cached. */
const maxCachedUsers = 10_000

export function impersonation(
  authorizer: Authorizer,
  metrics: ImpersonationMetrics,
  features = defaultFeatures,
): WrappingFilter {
  const modes = new ModeTracker(authorizer, metrics, features)
  return (request, next) => {
    if (!request.hasHeaders(headerPrefix)) return next(request)
    const target = impersonatedUser(request)
    return target ? modes.impersonate(request, target).then(() => next(request)) : next(request)
  }
}

const first = (request: Request, name: string): string => request.headerValues(name)[0] ?? ''

/** The user that the headers request, if any. Throws 400 for groups and other attributes without a name. */
function impersonatedUser(request: Request): ImpersonatedUser | undefined {
  const name = first(request, 'impersonate-user')
  const uid = first(request, 'impersonate-uid')
  const groups = request.headerValues('impersonate-group')
  const extra = new Map<string, readonly string[]>()
  for (const header of request.headerNames()) {
    if (!header.startsWith(extraPrefix)) continue
    const key = unescaped(header.slice(extraPrefix.length))
    extra.set(key, [...(extra.get(key) ?? []), ...request.headerValues(header)])
  }
  const target = { name, uid, groups, extra }
  if (name) return target
  if (uid || groups.length > 0 || extra.size > 0)
    throw badRequest(`requested ${userText(target)} without impersonating a user name`)
}

/** Keys are percent-encoded, since headers allow fewer characters than keys. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

const listText = (texts: readonly string[]): string => `[]string{${texts.map(goQuote).join(', ')}}`

/** The user as Go prints the structure. */
function userText({ uid, groups, extra }: ImpersonatedUser): string {
  const keys = [...extra.keys()].sort()
  const groupsText = groups.length > 0 ? listText(groups) : '[]string(nil)'
  const extraText =
    keys.length > 0 ? `{${keys.map((key) => `${goQuote(key)}:${listText(extra.get(key) ?? [])}`).join(', ')}}` : '(nil)'
  const texts = `Groups:${groupsText}, Extra:map[string][]string${extraText}`
  return `&user.DefaultInfo{Name:"", UID:${goQuote(uid)}, ${texts}}`
}

/** An attribute of the requested user that needs a permission. */
interface Claim {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  readonly namespace: string
}

/**
 * Tries the modes in order; the last one that a user had comes first, so that it needs no more checks than necessary.
 */
class ModeTracker {
  readonly #authorizer: Authorizer
  readonly #metrics: ImpersonationMetrics
  readonly #modes: readonly ImpersonationMode[]
  readonly #last = new Map<string, ImpersonationMode>()

  constructor(authorizer: Authorizer, metrics: ImpersonationMetrics, features: FeatureGates) {
    this.#authorizer = authorizer
    this.#metrics = metrics
    this.#modes = impersonationModes.filter(
      ({ name }) => name === 'legacy' || features.isEnabled('ConstrainedImpersonation'),
    )
  }

  /**
   * Changes the request's user to the requested one, if allowed. Rejects with the 403 of the first mode that was tried.
   */
  async impersonate(request: Request, target: ImpersonatedUser): Promise<void> {
    const started = performance.now()
    const requestor = request.user ?? anonymous
    const last = this.#last.get(requestor.name)
    const rest = this.#modes.filter((mode) => mode !== last)
    let firstDenial: StatusError | undefined
    for (const mode of last ? [last, ...rest] : rest) {
      if (!mode.applies(target, requestor)) continue
      const denial = await this.#check(request, requestor, mode, target)
      firstDenial ??= denial
      if (denial) continue
      this.#metrics.attempted(mode.name, performance.now() - started)
      this.#remember(requestor.name, mode)
      request.user = userOf(target, mode)
      if (mode.name !== 'legacy') request.audit?.recordImpersonation(`impersonate:${mode.name}`)
      return
    }
    this.#metrics.attempted(undefined, performance.now() - started)
    throw firstDenial
  }

  #remember(user: string, mode: ImpersonationMode): void {
    this.#last.delete(user)
    this.#last.set(user, mode)
    if (this.#last.size > maxCachedUsers) for (const oldest of this.#last.keys()) return void this.#last.delete(oldest)
  }

  /** Returns the 403 if the mode does not allow it. */
  async #check(
    request: Request,
    requestor: UserInfo,
    mode: ImpersonationMode,
    target: ImpersonatedUser,
  ): Promise<StatusError | undefined> {
    const user = mode.checkAs?.(requestor) ?? requestor
    const isLegacy = mode.name === 'legacy'
    const check = async (attributes: AccessAttributes): Promise<StatusError | undefined> => {
      const started = performance.now()
      const { verdict, reason } = await this.#authorizer.authorize(attributes)
      this.#metrics.checked(mode.name, verdict === 'allow', performance.now() - started)
      return verdict === 'allow' ? undefined : forbiddenError({ info: attributes.info, user }, reason)
    }
    if (!isLegacy) {
      const { fieldSelector, labelSelector } = attributesOf(request)
      const info = { ...request.info, verb: `impersonate-on:${mode.name}:${request.info.verb}` }
      const denial = await check({ user, info, fieldSelector, labelSelector })
      if (denial) return denial
    }
    const verb = isLegacy ? 'impersonate' : `impersonate:${mode.name}`
    const checkClaim = (claim: Claim): Promise<StatusError | undefined> =>
      check({ user, info: infoOf(request, claim, verb) })
    for (const claims of claimsOf(target, mode)) {
      const fault = isLegacy ? undefined : claims.fault?.()
      if (fault) return forbiddenError({ info: infoOf(request, fault.claim, verb), user }, fault.why)
      const [anyClaim] = claims.list
      if (
        !isLegacy &&
        anyClaim &&
        claims.list.length >= wildcardThreshold &&
        !(await checkClaim({ ...anyClaim, name: '*', subresource: anyClaim.subresource && '*' }))
      )
        continue
      for (const claim of claims.list) {
        const denial = await checkClaim(claim)
        if (denial) return denial
      }
    }
  }
}

/** With this number of claims of a kind, a constrained mode first checks a wildcard. */
const wildcardThreshold = 4

interface Claims {
  readonly list: readonly Claim[]
  /** The claim that no constrained mode allows. */
  readonly fault?: () => { readonly claim: Claim; readonly why: string } | undefined
}

/** The claims in the order in which upstream checks them: name, uid, groups, extra values. */
function claimsOf({ name, uid, groups, extra }: ImpersonatedUser, mode: ImpersonationMode): readonly Claims[] {
  const isLegacy = mode.name === 'legacy'
  const group = isLegacy ? '' : authenticationGroup
  const plain = { group, subresource: '', namespace: '' }
  const node = isLegacy ? undefined : nodeNameOf(name)
  const account = accountOf(name)
  const user: Claim =
    node !== undefined
      ? { ...plain, resource: 'nodes', name: mode.node ?? node }
      : account
        ? { ...plain, resource: 'serviceaccounts', ...account }
        : { ...plain, resource: 'users', name }
  const groupClaim = (claimed: string): Claim => ({ ...plain, resource: 'groups', name: claimed })
  const extraClaim = (subresource: string, value: string): Claim => ({
    ...plain,
    group: authenticationGroup,
    resource: 'userextras',
    subresource,
    name: value,
  })
  return [
    { list: [user] },
    { list: uid ? [{ ...plain, group: authenticationGroup, resource: 'uids', name: uid }] : [] },
    {
      list: groups.map(groupClaim),
      fault: () => {
        const fault = groupFault(groups)
        return fault && { claim: groupClaim(fault.name), why: fault.why }
      },
    },
    {
      list: [...extra].flatMap(([key, values]) => values.map((value) => extraClaim(key, value))),
      fault: () => {
        const why = extraFault(extra)
        return why === undefined ? undefined : { claim: extraClaim('', ''), why }
      },
    },
  ]
}

/** The resulting user of the request. A constrained mode knows the groups of nodes. */
function userOf({ name, uid, groups, extra }: ImpersonatedUser, mode: ImpersonationMode): UserInfo {
  const isNode = mode.name !== 'legacy' && nodeNameOf(name) !== undefined
  return {
    name,
    groups: isNode ? authenticated(['system:nodes']) : groupsOf(name, groups),
    ...(uid && { uid }),
    ...(extra.size > 0 && { extra: Object.fromEntries(extra) }),
  }
}

/** Adds the groups of service accounts; all users except the anonymous one are authenticated. */
function groupsOf(user: string, groups: readonly string[]): readonly string[] {
  if (user === anonymous.name) return [...groups, ...anonymous.groups.filter((group) => !groups.includes(group))]
  const account = accountOf(user)
  return authenticated(account && groups.length === 0 ? accountGroups(account.namespace) : groups)
}

const infoOf = (
  { info }: Request,
  { group, resource, subresource, name, namespace }: Claim,
  verb: string,
): Request['info'] => ({
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
