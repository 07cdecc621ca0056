/** The issuer of service account tokens: its keys and its OpenID discovery document (KEP-1393). */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { StatusError } from '../machinery/status-error.ts'
import { json, type Request, type Response } from './http/exchange.ts'
import { acceptClauses } from './negotiation/accept.ts'

export interface ServiceAccountIssuer {
  /** The `iss` of tokens: `https://kubernetes.default.svc.cluster.local`. */
  readonly issuer: string
  /** An RSA key; made when first needed. */
  readonly signingKey: () => Promise<KeyObject>
}

const jwksPath = '/openid/v1/jwks'
const jwksType = 'application/jwk-set+json'

/** `/.well-known/openid-configuration` */
export const openidConfiguration = ({ issuer }: ServiceAccountIssuer, serverUrl: string): Response =>
  json(200, {
    issuer,
    jwks_uri: `${serverUrl}${jwksPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  })

/** `/openid/v1/jwks`: the public keys that tokens are verified with. */
export async function keySet(request: Request, { signingKey }: ServiceAccountIssuer): Promise<Response> {
  const accept = request.header('accept')
  if (accept && !acceptClauses(accept).some(({ type }) => type === jwksType || type === '*/*' || type === 'application/*')) {
    throw new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${jwksType}`)
  }
  const key = createPublicKey(await signingKey())
  const { n, e, kty } = key.export({ format: 'jwk' })
  const kid = createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { status: 200, headers: { 'content-type': jwksType }, body: Buffer.from(JSON.stringify({ keys: [{ use: 'sig', kty, kid, alg: 'RS256', n, e }] })) }
}
