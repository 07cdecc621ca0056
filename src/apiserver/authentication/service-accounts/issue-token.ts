/** Makes tokens that end by themselves and with what they are bound to, as TokenRequests ask for them (KEP-1205). */
import { randomUUID } from 'node:crypto'
import { accountUser } from './account-name.ts'
import type { BoundClaims, Reference } from './bound-token.ts'
import type { ServiceAccountTokens } from './index.ts'

/** What clients of old ask for, that read their token once and never again; as the usual volume of a pod does. */
const usualSeconds = 60 * 60 + 7
const aYear = 365 * 24 * 60 * 60

export interface TokenOrder {
  readonly namespace: string
  readonly account: Reference
  readonly audiences: readonly string[]
  readonly seconds: number
  readonly bound: Pick<BoundClaims, 'pod' | 'secret' | 'node'>
  readonly nowMs: number
}

export interface IssuedToken {
  readonly token: string
  /** As audit events name it: `JTI=…`. */
  readonly credentialId: string
}

export async function issueToken(
  tokens: ServiceAccountTokens,
  { namespace, account, audiences, seconds, bound, nowMs }: TokenOrder,
): Promise<IssuedToken> {
  const { extendsExpiration = true } = tokens.issuer
  const now = Math.floor(nowMs / 1000)
  const forServer = audiences.every((audience) => tokens.audiences.includes(audience))
  const isExtended = extendsExpiration && bound.pod !== undefined && seconds === usualSeconds && forServer
  // Whatever the most is that others get: the flag that extends says so.
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
