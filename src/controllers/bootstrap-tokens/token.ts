/**
 * Bootstrap tokens as Secrets of kube-system hold them:
 * kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens
 */
import type { Secret } from '../../client/kinds.ts'

export const tokenNamespace = 'kube-system'
/** Secrets of that type. */
export const tokenSelection = { namespace: tokenNamespace, fieldSelector: 'type=bootstrap.kubernetes.io/token' }

const namePrefix = 'bootstrap-token-'

export const field = ({ data }: Secret, name: string): string => Buffer.from(data?.[name] ?? '', 'base64').toString()

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** When a token ends, in ms since the epoch: Infinity if it does not, 0 if nobody can tell what it says. */
export function expiration(secret: Secret): number {
  const text = field(secret, 'expiration')
  if (text === '') return Number.POSITIVE_INFINITY
  return rfc3339.test(text) ? Date.parse(text) || 0 : 0
}

export interface SigningToken {
  readonly id: string
  readonly secret: string
}

/**
 * The token of a Secret, if it may sign; undefined if it may not, has ended, or is none. `now` is in ms since the
 * epoch.
 */
export function signingToken(secret: Secret, now: number): SigningToken | undefined {
  const [id, key] = [field(secret, 'token-id'), field(secret, 'token-secret')]
  if (!/^[a-z0-9]{6}$/.test(id) || secret.metadata.name !== `${namePrefix}${id}` || key === '') return undefined
  return field(secret, 'usage-bootstrap-signing') === 'true' && expiration(secret) > now
    ? { id, secret: key }
    : undefined
}
