/** The issuer of service account tokens: its keys and its OpenID discovery document (KEP-1393). */
import { StatusError } from '../../machinery/status-error.ts'
import { type ServiceAccountIssuer, verificationKeysOf } from '../authentication/service-accounts/issuer.ts'
import type { VerificationKey } from '../authentication/service-accounts/signing-keys.ts'
import { json, type Request, type Response } from '../http/exchange.ts'
import { acceptClauses } from '../negotiation/accept.ts'

/** An issuer with OpenID discovery. */
export interface OpenidIssuer {
  readonly issuer: string
  readonly jwksUri: string | undefined
  readonly keys: () => readonly VerificationKey[] | Promise<readonly VerificationKey[]>
}

const jwksPath = '/openid/v1/jwks'
const jwksType = 'application/jwk-set+json'
/** The cache lifetime of both documents, in seconds. */
const maxAge = 3600
const cached = { 'cache-control': `public, max-age=${maxAge}` }

/** Undefined, with a log line, if the issuer is no valid OpenID URL. */
export function openidIssuer(tokenIssuer: ServiceAccountIssuer, log: (line: string) => void): OpenidIssuer | undefined {
  const issuer = tokenIssuer.issuers[0] ?? ''
  const fault =
    issuerFault(issuer) ??
    (tokenIssuer.jwksUri && !isHttps(tokenIssuer.jwksUri)
      ? `jwksURI requires https scheme, parsed as: ${tokenIssuer.jwksUri}`
      : undefined)
  if (fault) {
    log(
      `service account issuer discovery is off: ${fault}; check --service-account-issuer and ` +
        '--service-account-jwks-uri',
    )
    return undefined
  }
  return { issuer, jwksUri: tokenIssuer.jwksUri, keys: verificationKeysOf(tokenIssuer) }
}

const isHttps = (url: string): boolean => URL.canParse(url) && new URL(url).protocol === 'https:'

function issuerFault(issuer: string): string | undefined {
  if (!isHttps(issuer)) return `issuer URL must use https scheme, got: ${issuer}`
  const { search, hash } = new URL(issuer)
  if (search) return `issuer URL may not include a query, got: ${issuer}`
  return hash ? `issuer URL may not include a fragment, got: ${issuer}` : undefined
}

/** `/.well-known/openid-configuration` */
export async function openidConfiguration(
  { issuer, jwksUri, keys }: OpenidIssuer,
  serverUrl: string,
): Promise<Response> {
  const { headers, ...answer } = json(200, {
    issuer,
    jwks_uri: jwksUri ?? `${serverUrl}${jwksPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set((await keys()).map(({ algorithm }) => algorithm))].sort(),
  })
  return { ...answer, headers: { ...headers, ...cached } }
}

/** `/openid/v1/jwks`: the public keys that verify tokens. */
export async function keySet(request: Request, { keys }: OpenidIssuer): Promise<Response> {
  const accept = request.header('accept')
  if (
    accept &&
    !acceptClauses(accept).some(({ type }) => type === jwksType || type === '*/*' || type === 'application/*')
  ) {
    throw new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${jwksType}`)
  }
  const body = JSON.stringify({ keys: (await keys()).map(jsonWebKey) })
  return { status: 200, headers: { 'content-type': jwksType, ...cached }, body: Buffer.from(body) }
}

/** RFC 7517, with the members in upstream's order. */
function jsonWebKey({ id, algorithm, key }: VerificationKey): object {
  const { kty, crv, x, y, n, e } = key.export({ format: 'jwk' })
  return { use: 'sig', kty, kid: id, ...(crv && { crv }), alg: algorithm, ...(kty === 'EC' ? { x, y } : { n, e }) }
}
