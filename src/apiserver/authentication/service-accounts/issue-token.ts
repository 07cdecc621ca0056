/** Issues tokens that expire and are bound to objects, for TokenRequests (KEP-1205). */
import { randomUUID } from 'node:crypto'
import { accountUser } from './account-name.ts'
import type { BoundClaims, Reference } from './bound-token.ts'
import type { ServiceAccountTokens } from './index.ts'

/**
 * The lifetime that marks tokens for old clients, which read their token only once. The default volume of pods requests
 * it.
 */
const volumeTokenSeconds = 60 * 60 + 7
const aYear = 365 * 24 * 60 * 60

export interface TokenParameters {
  readonly namespace: string
  readonly account: Reference
  readonly audiences: readonly string[]
  readonly seconds: number
  readonly bound: Pick<BoundClaims, 'pod' | 'secret' | 'node'>
  readonly nowMs: number
}

export interface IssuedToken {
  readonly token: string
  /** The id in audit events: `JTI=…`. */
  readonly credentialId: string
}

export async function issueToken(
  tokens: ServiceAccountTokens,
  { namespace, account, audiences, seconds, bound, nowMs }: TokenParameters,
): Promise<IssuedToken> {
  const { extendsExpiration = true } = tokens.issuer
  const now = Math.floor(nowMs / 1000)
  const forServer = audiences.every((audience) => tokens.audiences.includes(audience))
  const isExtended = extendsExpiration && bound.pod !== undefined && seconds === volumeTokenSeconds && forServer
  // The extended lifetime may exceed the maximum: it has a flag of its own.
  const life = isExtended ? aYear : seconds
  const claims = {
    namespace,
    ...(bound.node && { node: { name: bound.node.name, ...(bound.node.uid && { uid: bound.node.uid }) } }),
    ...(bound.pod && { pod: bound.pod }),
    ...(bound.secret && { secret: bound.secret }),
    serviceaccount: account,
    ...(isExtended && { warnafter: now + seconds }),
  }
  const jti = randomUUID()
  const token = await tokens.sign({
    aud: audiences,
    exp: now + life,
    iat: now,
    jti,
    'kubernetes.io': claims,
    nbf: now,
    sub: accountUser({ namespace, name: account.name }),
  })
  return { token, credentialId: `JTI=${jti}` }
}
