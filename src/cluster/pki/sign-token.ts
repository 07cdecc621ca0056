/** Signs JSON Web Tokens (RFC 7519) with the key of service accounts. */
import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto'

const json = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** RS256: the cluster's own key is an RSA key. The key's id is a digest of its public half, as in the key set that the server publishes. */
export function signToken(key: KeyObject, claims: Readonly<Record<string, unknown>>): string {
  const kid = createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  const signed = `${json({ alg: 'RS256', kid })}.${json(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}
