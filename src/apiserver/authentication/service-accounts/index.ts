/** Authenticates and signs service account tokens. */
import { after } from '../../../lib/flow/after.ts'
import type { TokenAuthenticator, TokenIdentity, TokenRefusal, TokenVerdict } from '../token-authenticator.ts'
import type { Lookup } from './account-objects.ts'
import { type BoundClaims, boundClaimsOf, boundFault, boundUser, leewayMs } from './bound-token.ts'
import { type ServiceAccountIssuer, verificationKeysOf } from './issuer.ts'
import { type JsonWebToken, parseToken, textOf } from './json-web-token.ts'
import {
  type SecretClaims,
  type SecretTokenOptions,
  SecretTokens,
  type SecretUse,
  secretClaimsOf,
  secretIssuer,
} from './secret-token.ts'
import { isSignedBy, signedToken, type VerificationKey } from './signing-keys.ts'

export type { Lookup } from './account-objects.ts'
export { lookupIn } from './account-objects.ts'
export type { BoundClaims, Reference } from './bound-token.ts'
export type { ServiceAccountIssuer } from './issuer.ts'

/** A token with a valid signature. */
interface Verified {
  /** The keys at the time of verification: when they change, the token is verified again. */
  readonly keys: readonly VerificationKey[]
  readonly notBeforeMs: number
  readonly issuedMs: number
  readonly endMs: number
  readonly audiences: readonly string[] | undefined
  readonly subject: string
  readonly bound?: BoundClaims
  readonly secret?: SecretClaims
  readonly jti: string
  /** The last result, so that it remains the same object while it does not change. */
  identity?: TokenIdentity
  requestedAudiences?: readonly string[]
}

/** The number of verified tokens cached, in each of two generations. */
const maxCached = 2048

/** `legacy`: of a Secret; `stale`: used after it should have been renewed; `valid`: used in time. */
export type TokenUse = 'legacy' | SecretUse | 'stale' | 'valid'

export interface ServiceAccountTokenOptions {
  readonly issuer: ServiceAccountIssuer
  /** The audiences of the server, assumed for tokens without any. */
  readonly audiences: readonly string[]
  readonly lookup: Lookup
  readonly recordUse: SecretTokenOptions['recordUse']
  /** Called on each use of a valid token. */
  readonly countUse?: (use: TokenUse) => void
  /** Ms since 1970. */
  readonly now?: () => number
}

export class ServiceAccountTokens implements TokenAuthenticator {
  readonly name = 'service accounts'
  readonly issuer: ServiceAccountIssuer
  readonly lookup: Lookup
  readonly audiences: readonly string[]
  readonly #issuers: ReadonlySet<string>
  readonly #keys: () => readonly VerificationKey[] | Promise<readonly VerificationKey[]>
  readonly #secrets: SecretTokens
  readonly #countUse: (use: TokenUse) => void
  readonly #now: () => number
  #young = new Map<string, Verified>()
  #old = new Map<string, Verified>()

  constructor({
    issuer,
    audiences,
    lookup,
    recordUse,
    countUse = () => {},
    now = Date.now,
  }: ServiceAccountTokenOptions) {
    this.issuer = issuer
    this.lookup = lookup
    this.audiences = audiences
    this.#issuers = new Set(issuer.issuers)
    this.#keys = verificationKeysOf(issuer)
    this.#secrets = new SecretTokens({ lookup, mustExist: issuer.requiresSecret ?? true, recordUse, countUse })
    this.#countUse = countUse
    this.#now = now
  }

  /** Signs a token with these claims, as the first issuer. */
  async sign(claims: object): Promise<string> {
    return signedToken(await this.issuer.signingKey(), { ...claims, iss: this.issuer.issuers[0] })
  }

  authenticate(token: string, audiences: readonly string[]): TokenVerdict | Promise<TokenVerdict> {
    const known = this.#young.get(token) ?? this.#old.get(token)
    if (!known) return this.#verify(token, audiences)
    return after(this.#keys(), (keys) =>
      known.keys === keys ? this.#identify(token, known, audiences) : this.#verify(token, audiences),
    )
  }

  /** Returns undefined for tokens of other issuers, and for anything that is not a token. */
  #verify(token: string, audiences: readonly string[]): TokenVerdict | Promise<TokenVerdict> {
    const parsed = parseToken(token)
    if (!parsed) return undefined
    const issuer = textOf(parsed.claims.iss)
    if (issuer !== secretIssuer && !this.#issuers.has(issuer)) return undefined
    return after(this.#keys(), (keys) => {
      const refused = signatureFault(parsed, keys)
      if (refused) return refused
      const verified = verifiedToken(parsed.claims, keys)
      if ('refused' in verified) return verified
      this.#cache(token, verified)
      return this.#identify(token, verified, audiences)
    })
  }

  #cache(token: string, verified: Verified): void {
    if (this.#young.size >= maxCached) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(token, verified)
  }

  #identify(token: string, verified: Verified, requested: readonly string[]): TokenVerdict | Promise<TokenVerdict> {
    const tokenAudiences = verified.audiences ?? this.audiences
    if (this.audiences.length > 0 && !tokenAudiences.some((audience) => requested.includes(audience)))
      return {
        refused: `token audiences ${goList(tokenAudiences)} is invalid for the target audiences ${goList(requested)}`,
      }
    const now = this.#now()
    const refused = timeFault(verified, now)
    if (refused) return refused
    if (verified.secret) {
      return after(this.#secrets.identity(token, verified.secret, now), (identity) => {
        if ('refused' in identity) return identity
        this.#countUse('legacy')
        return { ...identity, audiences: tokenAudiences.filter((audience) => requested.includes(audience)) }
      })
    }
    const bound = verified.bound!
    return after(boundFault(bound, this.lookup, now), (fault) => {
      if (fault) return fault
      if (bound.warnafter) this.#countUse(isStale(bound, now) ? 'stale' : 'valid')
      return identityOf(verified, bound, tokenAudiences, requested, now)
    })
  }
}

/** True if only the extended lifetime keeps the token valid: the pod's client has not renewed it. */
const isStale = ({ warnafter }: BoundClaims, nowMs: number): boolean =>
  warnafter !== undefined && warnafter !== 0 && nowMs > warnafter * 1000

/** Returns the same object as before unless something has changed. */
function identityOf(
  verified: Verified,
  bound: BoundClaims,
  tokenAudiences: readonly string[],
  requested: readonly string[],
  nowMs: number,
): TokenIdentity {
  const stale = isStale(bound, nowMs)
  if (verified.identity && verified.requestedAudiences === requested && !stale) return verified.identity
  const late = stale ? Math.floor(nowMs / 1000) - Math.floor(bound.warnafter!) : 0
  const annotations = {
    ...(!verified.audiences && { 'authentication.k8s.io/legacy-token': verified.subject }),
    ...(stale && {
      'authentication.k8s.io/stale-token': `subject: ${verified.subject}, seconds after warning threshold: ${late}`,
    }),
  }
  const identity = {
    user: boundUser(bound, verified.jti),
    audiences: tokenAudiences.filter((audience) => requested.includes(audience)),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
  if (!stale) {
    verified.identity = identity
    verified.requestedAudiences = requested
  }
  return identity
}

/** Tries the key with the id in the token, or all keys if it has none. */
function signatureFault(
  { algorithm, keyId, signed, signature }: JsonWebToken,
  keys: readonly VerificationKey[],
): TokenRefusal | undefined {
  const named = keyId ? keys.filter(({ id }) => id === keyId) : keys
  if (named.length === 0) return { refused: 'invalid signature, no keys found' }
  const holds = named.some((key) => key.algorithm === algorithm && isSignedBy(key, signed, signature))
  return holds ? undefined : { refused: 'go-jose/go-jose: error in cryptographic primitive' }
}

function verifiedToken(
  claims: Readonly<Record<string, unknown>>,
  keys: readonly VerificationKey[],
): Verified | TokenRefusal {
  const { aud } = claims
  const audiences = typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud.map(textOf) : []
  const shared = {
    keys,
    notBeforeMs: msOf(claims.nbf, 0),
    issuedMs: msOf(claims.iat, 0),
    endMs: msOf(claims.exp, Number.POSITIVE_INFINITY),
    audiences: audiences.length > 0 ? audiences : undefined,
    subject: textOf(claims.sub),
    jti: textOf(claims.jti),
  }
  if (claims.iss === secretIssuer) {
    const secret = secretClaimsOf(claims)
    return 'refused' in secret ? secret : { ...shared, secret }
  }
  const bound = boundClaimsOf(claims)
  return bound
    ? { ...shared, bound }
    : { refused: 'service account token claims could not be validated due to unexpected private claim' }
}

/** Converts seconds since 1970 to ms. Any other type gives NaN, which is never valid. */
const msOf = (value: unknown, usual: number): number =>
  value === undefined || value === null ? usual : typeof value === 'number' ? value * 1000 : Number.NaN

function timeFault({ notBeforeMs, issuedMs, endMs }: Verified, nowMs: number): TokenRefusal | undefined {
  if (!(notBeforeMs <= nowMs + leewayMs)) return { refused: 'service account token is not valid yet' }
  if (!(endMs >= nowMs - leewayMs)) return { refused: 'service account token has expired' }
  if (!(issuedMs <= nowMs + leewayMs))
    return { refused: 'service account token claims could not be validated due to unexpected validation error' }
  return undefined
}

/** Formats a list as Go does: `["a" "b"]`. */
const goList = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`
