/** Keys of service account tokens: their ids and algorithms (RFC 7518). */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** A public key as tokens name it. */
export interface VerificationKey {
  /** The `kid` of tokens: a hash of the key, so that it is the same on every server. */
  readonly id: string
  readonly algorithm: string
  readonly key: KeyObject
}

interface Algorithm {
  readonly name: string
  readonly hash: string
}

const rsa: Algorithm = { name: 'RS256', hash: 'sha256' }
const byCurve: Readonly<Record<string, Algorithm>> = {
  prime256v1: { name: 'ES256', hash: 'sha256' },
  secp384r1: { name: 'ES384', hash: 'sha384' },
  secp521r1: { name: 'ES512', hash: 'sha512' },
}

/** Returns undefined for keys that cannot sign tokens. */
const algorithmOf = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Algorithm | undefined =>
  asymmetricKeyType === 'rsa'
    ? rsa
    : asymmetricKeyType === 'ec'
      ? byCurve[asymmetricKeyDetails?.namedCurve ?? '']
      : undefined

const algorithmFor = (key: KeyObject): Algorithm => {
  const algorithm = algorithmOf(key)
  if (!algorithm)
    throw new Error(
      `keys of service account tokens are RSA or ECDSA on P-256, P-384 or P-521, not ${key.asymmetricKeyType}`,
    )
  return algorithm
}

/** Accepts a public or private key. Throws for keys that cannot sign tokens. */
export function verificationKey(of: KeyObject): VerificationKey {
  const key = of.type === 'private' ? createPublicKey(of) : of
  const id = createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, algorithm: algorithmFor(key).name, key }
}

/** The key determines the algorithm, never the token: this prevents algorithm confusion attacks. */
export const isSignedBy = ({ key }: VerificationKey, text: string, signature: Buffer): boolean =>
  verify(algorithmFor(key).hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, signature)

/** Returns a compact JWT (RFC 7519) of the claims. */
export function signedToken(key: KeyObject, claims: object): string {
  const { id, algorithm } = verificationKey(key)
  const text = `${base64url({ alg: algorithm, kid: id })}.${base64url(claims)}`
  const signature = sign(algorithmFor(key).hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
