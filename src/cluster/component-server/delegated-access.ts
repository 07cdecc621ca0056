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

type TokenReview = Model<V1TokenReview>

const tokenReviews = resource<TokenReview>('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews', false)
const defaultOpenPaths: readonly string[] = ['/healthz', '/readyz', '/livez']
const defaultCacheMs = 10_000
const maxCachedAnswers = 1000

export class DelegatedAccess {
  readonly clientCA: Bundle | undefined
  readonly #options: DelegatedAccessOptions
  readonly #authenticateCertificate: Authenticator
  readonly #users = new AnswerCache<UserInfo | 'invalid'>(maxCachedAnswers)
  readonly #verdicts = new AnswerCache<boolean>(maxCachedAnswers)

  constructor(options: DelegatedAccessOptions) {
    const { clientCA } = options
    this.clientCA = clientCA
    this.#options = options
    this.#authenticateCertificate = clientCA ? clientCertificate(clientCA) : () => undefined
  }

  /** Rejects with a StatusError (401, 403) if the request is not allowed. */
  async admit(request: Request): Promise<void> {
    const user = await this.#userOf(request)
    if (this.#isOpen(request.path) || user.groups.includes('system:masters') || (await this.#isAllowed(user, request)))
      return
    const verb = request.method.toLowerCase()
    const attempt = `User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(request.path)}`
    throw new StatusError(403, 'Forbidden', `forbidden: ${attempt}`, {})
  }

  #isOpen(path: string): boolean {
    const { openPaths = defaultOpenPaths } = this.#options
    return openPaths.some((open) => (open.endsWith('*') ? path.startsWith(open.slice(0, -1)) : path === open))
  }

  async #userOf(request: Request): Promise<UserInfo> {
    const { authentication } = this.#options
    const certified = await this.#authenticateCertificate(request)
    if (typeof certified === 'string') throw unauthorized()
    const token = certified ? undefined : bearerToken(request.header('authorization'))
    const user = certified ?? (token && authentication ? await this.#ownerOf(token, authentication) : anonymous)
    if (user === 'invalid') throw unauthorized()
    return user
  }

  async #ownerOf(token: string, client: RestClient): Promise<UserInfo | 'invalid'> {
    const { cacheMs, log } = this.#options
    const known = this.#users.get(token)
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
      this.#users.set(token, owner, cacheMs?.token ?? defaultCacheMs)
      return owner
    } catch (error) {
      log(`the owner of a token is unknown: ${reasonOf(error)}`)
      return 'invalid'
    }
  }

  async #isAllowed({ name, uid, groups, extra }: UserInfo, { path, method }: Request): Promise<boolean> {
    const { authorization, cacheMs, log } = this.#options
    if (!authorization) return false
    const nonResourceAttributes = { path, verb: method.toLowerCase() }
    const spec = { user: name, uid, groups: [...groups], extra: extra && { ...copied(extra) }, nonResourceAttributes }
    const key = JSON.stringify(spec)
    const known = this.#verdicts.get(key)
    if (known !== undefined) return known
    try {
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec }
      const { status } = await authorization.create(subjectAccessReviews, review)
      const allowed = status?.allowed ?? false
      this.#verdicts.set(key, allowed, (allowed ? cacheMs?.allowed : cacheMs?.refused) ?? defaultCacheMs)
      return allowed
    } catch (error) {
      log(`cannot check whether ${name} may ${method} ${path}: ${reasonOf(error)}`)
      return false
    }
  }
}

const copied = (extra: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]))
