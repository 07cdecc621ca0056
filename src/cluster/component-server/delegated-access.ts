/**
 * Authentication and authorization of requests to a component: client certificates are verified here; tokens and rights
 * are checked by the API server (TokenReview, SubjectAccessReview), whose answers are cached for some seconds.
 */
import type { V1TokenReview } from '@kubernetes/client-node'
import { type Authenticator, anonymous } from '../../apiserver/authentication/authenticator.ts'
import { clientCertificate } from '../../apiserver/authentication/client-certificate.ts'
import { bearerToken } from '../../apiserver/authentication/tokens/request-tokens.ts'
import type { Bundle } from '../../apiserver/certificates/signed-by.ts'
import type { Request } from '../../apiserver/http/exchange.ts'
import { AnswerCache } from '../../apiserver/outgoing/webhooks/index.ts'
import type { UserInfo } from '../../apiserver/request-info/user-info.ts'
import { subjectAccessReviews } from '../../client/kinds.ts'
import { resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { reasonOf } from '../../lib/explained-error.ts'
import type { Model } from '../../machinery/object.ts'
import { StatusError, unauthorized } from '../../machinery/status-error.ts'

export interface DelegatedAccessOptions {
  /** Client for TokenReviews; without it tokens are ignored. */
  readonly authentication?: RestClient
  /** Client for SubjectAccessReviews; without it only `system:masters` has access. */
  readonly authorization?: RestClient
  /** Authorities of client certificates; without them certificates are not requested. */
  readonly clientCA?: Bundle
  /** Paths that everybody may read. A final `*` matches any suffix. Default: the health checks. */
  readonly openPaths?: readonly string[]
  /** How long answers are cached, in ms. Default: 10,000 each. */
  readonly cacheMs?: { readonly token?: number; readonly allowed?: number; readonly refused?: number }
  readonly log: (line: string) => void
}

export interface DelegatedAccess {
  readonly clientCA?: Bundle
  /** Rejects with a StatusError (401, 403) if the request is not allowed. */
  admit(request: Request): Promise<void>
}

type TokenReview = Model<V1TokenReview>

const tokenReviews = resource<TokenReview>('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews', false)
const defaultOpenPaths: readonly string[] = ['/healthz', '/readyz', '/livez']
const defaultCacheMs = 10_000
const maxCachedAnswers = 1000

export function delegatedAccess({
  authentication,
  authorization,
  clientCA,
  openPaths = defaultOpenPaths,
  cacheMs: holdMs = {},
  log,
}: DelegatedAccessOptions): DelegatedAccess {
  const byCertificate: Authenticator = clientCA ? clientCertificate(clientCA) : () => undefined
  const users = new AnswerCache<UserInfo | 'invalid'>(maxCachedAnswers)
  const verdicts = new AnswerCache<boolean>(maxCachedAnswers)
  const isOpen = (path: string): boolean =>
    openPaths.some((open) => (open.endsWith('*') ? path.startsWith(open.slice(0, -1)) : path === open))

  return {
    clientCA,
    async admit(request) {
      const user = await userOf(request)
      if (isOpen(request.path) || user.groups.includes('system:masters') || (await isAllowed(user, request))) return
      const attempt =
        `User ${JSON.stringify(user.name)} cannot ${request.method.toLowerCase()} path ` +
        `${JSON.stringify(request.path)}`
      throw new StatusError(403, 'Forbidden', `forbidden: ${attempt}`, {})
    },
  }

  async function userOf(request: Request): Promise<UserInfo> {
    const shown = await byCertificate(request)
    if (typeof shown === 'string') throw unauthorized()
    const token = shown ? undefined : bearerToken(request.header('authorization'))
    const user = shown ?? (token && authentication ? await ownerOf(token, authentication) : anonymous)
    if (user === 'invalid') throw unauthorized()
    return user
  }

  async function ownerOf(token: string, client: RestClient): Promise<UserInfo | 'invalid'> {
    const known = users.get(token)
    if (known) return known
    try {
      const { status } = await client.create(tokenReviews, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: {},
        spec: { token },
      })
      const { username = '', uid, groups = [], extra } = status?.user ?? {}
      const owner = status?.authenticated ? { name: username, uid, groups, extra } : 'invalid'
      users.set(token, owner, holdMs.token ?? defaultCacheMs)
      return owner
    } catch (error) {
      log(`the owner of a token is unknown: ${reasonOf(error)}`)
      return 'invalid'
    }
  }

  async function isAllowed({ name, uid, groups, extra }: UserInfo, { path, method }: Request): Promise<boolean> {
    if (!authorization) return false
    const nonResourceAttributes = { path, verb: method.toLowerCase() }
    const spec = { user: name, uid, groups: [...groups], extra: extra && { ...copied(extra) }, nonResourceAttributes }
    const key = JSON.stringify(spec)
    const known = verdicts.get(key)
    if (known !== undefined) return known
    try {
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec }
      const { status } = await authorization.create(subjectAccessReviews, review)
      const allowed = status?.allowed ?? false
      verdicts.set(key, allowed, (allowed ? holdMs.allowed : holdMs.refused) ?? defaultCacheMs)
      return allowed
    } catch (error) {
      log(`cannot check whether ${name} may ${method} ${path}: ${reasonOf(error)}`)
      return false
    }
  }
}

const copied = (extra: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]))
