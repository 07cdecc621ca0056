/**
 * Bootstrap tokens in Secrets of kube-system:
 * kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens
 */
import type { Secret } from '../../client/kinds.ts'

export const tokenNamespace = 'kube-system'
/** Selects bootstrap token Secrets. */
export const tokenSelection = { namespace: tokenNamespace, fieldSelector: 'type=bootstrap.kubernetes.io/token' }

const namePrefix = 'bootstrap-token-'

export const field = ({ data }: Secret, name: string): string => Buffer.from(data?.[name] ?? '', 'base64').toString()

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** The expiry of a token in ms since the epoch: Infinity if it has none, 0 if it is invalid. */
export function expiration(secret: Secret): number {
  const text = field(secret, 'expiration')
  if (text === '') return Number.POSITIVE_INFINITY
  return rfc3339.test(text) ? Date.parse(text) || 0 : 0
}

export interface SigningToken {
  readonly id: string
  readonly secret: string
}

/** Returns the signing token of a Secret; undefined if it is invalid, expired or not for signing. `now` is in ms. */
export function signingToken(secret: Secret, now: number): SigningToken | undefined {
  const [id, key] = [field(secret, 'token-id'), field(secret, 'token-secret')]
  if (!/^[a-z0-9]{6}$/.test(id) || secret.metadata.name !== `${namePrefix}${id}` || key === '') return undefined
  return field(secret, 'usage-bootstrap-signing') === 'true' && expiration(secret) > now
    ? { id, secret: key }
    : undefined
}
