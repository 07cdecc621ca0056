/**
 * Tokens of service accounts for pods, each bound to its pod. A token is renewed at 80 % of its life or after a day,
 * whichever comes first. While the API server cannot be reached, the old one is used until it expires.
 */
import { goQuote } from '../../../lib/go/go-quote.ts'

/** The spec of a TokenRequest (authentication.k8s.io/v1). */
export interface TokenSpec {
  readonly audiences?: readonly string[]
  readonly expirationSeconds: number
  readonly boundObjectRef: {
    readonly apiVersion: string
    readonly kind: string
    readonly name: string
    readonly uid: string
  }
}

export interface IssuedToken {
  readonly token: string
  /** RFC 3339. */
  readonly expirationTimestamp: string
  /** The life that the server has granted. Default: the requested one. */
  readonly expirationSeconds?: number
}

export interface TokenCacheOptions {
  request(namespace: string, serviceAccount: string, spec: TokenSpec): Promise<IssuedToken>
  /** Wall time in ms since 1970. */
  readonly now: () => number
  /** Between 0 and 1: spreads the renewals of many pods. */
  readonly random: () => number
  readonly log: (line: string) => void
}

interface CachedToken {
  readonly token: string
  readonly uid: string
  readonly expiresMs: number
  readonly lifeMs: number
}

const maxAgeMs = 24 * 3_600_000
const maxJitterMs = 10_000

export class TokenCache {
  readonly #options: TokenCacheOptions
  readonly #tokens = new Map<string, CachedToken>()

  constructor(options: TokenCacheOptions) {
    this.#options = options
  }

  /** Rejects with upstream's message if there is no valid token. */
  async token(namespace: string, serviceAccount: string, spec: TokenSpec): Promise<string> {
    return (await this.issued(namespace, serviceAccount, spec)).token
  }

  /** Resolves with a token and its end, in ms since 1970. Rejects as `token` does. */
  async issued(
    namespace: string,
    serviceAccount: string,
    spec: TokenSpec,
  ): Promise<{ readonly token: string; readonly expiresMs: number }> {
    const key = keyOf(namespace, serviceAccount, spec)
    const cached = this.#tokens.get(key)
    if (cached && !this.#isDue(cached)) return cached
    try {
      return await this.#renew(key, namespace, serviceAccount, spec)
    } catch (error) {
      const { message } = error as Error
      if (!cached) throw new Error(`failed to fetch token: ${message}`)
      if (this.#options.now() > cached.expiresMs) throw new Error(`token ${key} expired and refresh failed: ${message}`)
      this.#options.log(`cannot renew the token ${key}: ${message}`)
      return cached
    }
  }

  /** Removes the tokens of a pod that has ended. */
  forget(uid: string): void {
    for (const [key, token] of this.#tokens) if (token.uid === uid) this.#tokens.delete(key)
  }

  async #renew(key: string, namespace: string, serviceAccount: string, spec: TokenSpec): Promise<CachedToken> {
    const issued = await this.#options.request(namespace, serviceAccount, spec)
    const { token, expirationTimestamp, expirationSeconds = spec.expirationSeconds } = issued
    const lifeMs = expirationSeconds * 1000
    const cached = { token, uid: spec.boundObjectRef.uid, expiresMs: Date.parse(expirationTimestamp), lifeMs }
    this.#tokens.set(key, cached)
    return cached
  }

  #isDue({ expiresMs, lifeMs }: CachedToken): boolean {
    const now = this.#options.now()
    const jitterMs = this.#options.random() * maxJitterMs
    const issuedMs = expiresMs - lifeMs
    // A token from the future shows that the clock was set back.
    return now > issuedMs + maxAgeMs - jitterMs || now > expiresMs - lifeMs / 5 - jitterMs || now < issuedMs
  }
}

/** Upstream's key, which is a part of messages: Go's form of the values. */
function keyOf(
  namespace: string,
  account: string,
  { audiences, expirationSeconds, boundObjectRef }: TokenSpec,
): string {
  const shownAudiences = audiences ? `[]string{${audiences.map(goQuote).join(', ')}}` : '[]string(nil)'
  const { apiVersion, kind, name, uid } = boundObjectRef
  const pod = `Kind:${goQuote(kind)}, APIVersion:${goQuote(apiVersion)}, Name:${goQuote(name)}, UID:${goQuote(uid)}`
  const reference = `v1.BoundObjectReference{${pod}}`
  return `${goQuote(account)}/${goQuote(namespace)}/${shownAudiences}/${expirationSeconds}/${reference}`
}
