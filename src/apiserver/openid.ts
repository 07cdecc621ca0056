/** The issuer of service account tokens: its keys and its OpenID discovery document (KEP-1393). */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { StatusError } from '../machinery/status-error.ts'
import { json, type Request, type Response } from './http/exchange.ts'
import { acceptClauses } from './negotiation/accept.ts'

export interface ServiceAccountIssuer {
  /** The `iss` of tokens: `https://kubernetes.default.svc.cluster.local`. */
  readonly issuer: string
  /** The private key that signs tokens: RSA, or ECDSA on a NIST curve; made when first needed. */
  readonly signingKey: () => Promise<KeyObject>
  /** What tokens are verified with (`--service-account-key-file`); the public half of the signing key unless said. */
  readonly verificationKeys?: readonly KeyObject[]
}

const jwksPath = '/openid/v1/jwks'
const jwksType = 'application/jwk-set+json'

/** `/.well-known/openid-configuration` */
export const openidConfiguration = ({ issuer, verificationKeys }: ServiceAccountIssuer, serverUrl: string): Response =>
  json(200, {
    issuer,
    jwks_uri: `${serverUrl}${jwksPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: verificationKeys ? [...new Set(verificationKeys.map(algorithmOf))].sort() : ['RS256'],
  })

/** `/openid/v1/jwks`: the public keys that tokens are verified with. */
export async function keySet(request: Request, { signingKey, verificationKeys }: ServiceAccountIssuer): Promise<Response> {
  const accept = request.header('accept')
  if (accept && !acceptClauses(accept).some(({ type }) => type === jwksType || type === '*/*' || type === 'application/*')) {
    throw new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${jwksType}`)
  }
  const keys = verificationKeys ?? [createPublicKey(await signingKey())]
  return { status: 200, headers: { 'content-type': jwksType }, body: Buffer.from(JSON.stringify({ keys: keys.map(jsonWebKey) })) }
}

/** RFC 7517, with the members in the order of upstream. */
function jsonWebKey(key: KeyObject): object {
  const { kty, crv, x, y, n, e } = key.export({ format: 'jwk' })
  const kid = createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { use: 'sig', kty, kid, ...(crv && { crv }), alg: algorithmOf(key), ...(kty === 'EC' ? { x, y } : { n, e }) }
}

const algorithms: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

/** How tokens are signed with a key (RFC 7518). */
const algorithmOf = (key: KeyObject): string => algorithms[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 'RS256'
