/**
 * The keys of an OpenID provider (JWKS, RFC 7517), and verification of token signatures. Keys change while the server
 * runs.
 */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { isObject } from '../../../machinery/fields/json.ts'
import { type JsonWebToken, textOf } from '../service-accounts/json-web-token.ts'

interface Algorithm {
  readonly keyType: 'rsa' | 'ec'
  readonly hash: string
  readonly curve?: string
  readonly pss?: boolean
}

/** RFC 7518, section 3.1: the asymmetric signature algorithms. */
const algorithms: ReadonlyMap<string, Algorithm> = new Map([
  ['ES256', { keyType: 'ec', hash: 'sha256', curve: 'prime256v1' }],
  ['ES384', { keyType: 'ec', hash: 'sha384', curve: 'secp384r1' }],
  ['ES512', { keyType: 'ec', hash: 'sha512', curve: 'secp521r1' }],
  ['PS256', { keyType: 'rsa', hash: 'sha256', pss: true }],
  ['PS384', { keyType: 'rsa', hash: 'sha384', pss: true }],
  ['PS512', { keyType: 'rsa', hash: 'sha512', pss: true }],
  ['RS256', { keyType: 'rsa', hash: 'sha256' }],
  ['RS384', { keyType: 'rsa', hash: 'sha384' }],
  ['RS512', { keyType: 'rsa', hash: 'sha512' }],
])

/** All supported algorithms, in alphabetical order. */
export const signingAlgorithms: readonly string[] = [...algorithms.keys()]

export interface ProviderKey {
  readonly id: string
  readonly key: KeyObject
}

/** The maximum number of keys of a provider: each may have to be tried. */
const maxKeys = 256

/** Parses the signing keys of a key set and skips others. Throws an Error for an invalid key set. */
export function parseKeySet(text: string): readonly ProviderKey[] {
  const { keys } = fieldsOf(text)
  if (!Array.isArray(keys)) throw new Error('it has no list of keys')
  if (keys.length > maxKeys) throw new Error(`it has ${keys.length} keys, and at most ${maxKeys} are taken`)
  return keys.flatMap((jwk: unknown) => {
    // A symmetric key is a secret: anybody who reads a published one could sign.
    if (!isObject(jwk) || (jwk.kty !== 'RSA' && jwk.kty !== 'EC') || (jwk.use !== undefined && jwk.use !== 'sig'))
      return []
    try {
      return [{ id: textOf(jwk.kid), key: createPublicKey({ key: publicPart(jwk), format: 'jwk' }) }]
    } catch {
      return []
    }
  })
}

const publicPart = ({ kty, n, e, crv, x, y }: Readonly<Record<string, unknown>>) =>
  ({ kty, n, e, crv, x, y }) as Record<string, string>

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text)
  if (!isObject(value)) throw new Error('it is no object')
  return value
}

/** The token's algorithm must match the type of the key. */
function isSignedBy({ signed, signature, algorithm }: JsonWebToken, { key }: ProviderKey): boolean {
  const known = algorithms.get(algorithm)
  if (!known || key.asymmetricKeyType !== known.keyType) return false
  if (known.curve && key.asymmetricKeyDetails?.namedCurve !== known.curve) return false
  const options = known.pss
    ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : { key }
  return verify(known.hash, Buffer.from(signed), { ...options, dsaEncoding: 'ieee-p1363' }, signature)
}

/** The burst of fetches for unknown keys, and the time in ms to regain one. */
const burstReads = 5
const readRefillMs = 10_000

export class KeySet {
  readonly #read: () => Promise<string>
  readonly #now: () => number
  #keys: readonly ProviderKey[] = []
  #reading: Promise<void> | undefined
  #reads = burstReads
  #countedAt: number

  /** `read` fetches the key set. Tokens with unknown keys trigger a fetch, at a limited rate. */
  constructor(read: () => Promise<string>, now: () => number = () => performance.now()) {
    this.#read = read
    this.#now = now
    this.#countedAt = now()
  }

  /** Returns the reason why the signature is invalid; undefined if it is valid. */
  async fault(token: JsonWebToken): Promise<string | undefined> {
    if (this.#isSigned(token)) return undefined
    if (!this.#reading && !this.#mayRead()) return 'failed to verify id token signature'
    try {
      await (this.#reading ??= this.#refresh().finally(() => {
        this.#reading = undefined
      }))
    } catch (error) {
      return `fetching keys ${error instanceof Error ? error.message : error}`
    }
    return this.#isSigned(token) ? undefined : 'failed to verify id token signature'
  }

  #isSigned(token: JsonWebToken): boolean {
    return this.#keys.some((key) => (token.keyId === '' || key.id === token.keyId) && isSignedBy(token, key))
  }

  #mayRead(): boolean {
    const now = this.#now()
    this.#reads = Math.min(burstReads, this.#reads + (now - this.#countedAt) / readRefillMs)
    this.#countedAt = now
    if (this.#reads < 1) return false
    this.#reads--
    return true
  }

  async #refresh(): Promise<void> {
    const text = await this.#read().catch((error) => {
      throw new Error(`oidc: get keys failed: ${error instanceof Error ? error.message : error}`)
    })
    try {
      this.#keys = parseKeySet(text)
    } catch (error) {
      throw new Error(`oidc: failed to decode keys: ${error instanceof Error ? error.message : error}`)
    }
  }
}
