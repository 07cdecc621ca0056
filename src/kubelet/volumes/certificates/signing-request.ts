/** Private keys of pods, and certificate signing requests (PKCS #10, RFC 2986) without a subject for them. */
import { generateKeyPair, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'

const generate = promisify(generateKeyPair)

interface KeyType {
  generate(): Promise<{ readonly privateKey: KeyObject; readonly publicKey: KeyObject }>
  /** The signature's AlgorithmIdentifier, in hex. */
  readonly algorithm: string
  /** Undefined if the algorithm implies the hash. */
  readonly hash?: string
}

const rsa = (modulusLength: number): KeyType => ({
  generate: () => generate('rsa', { modulusLength }),
  algorithm: '300d06092a864886f70d01010b0500',
  hash: 'sha256',
})

const ecdsa = (namedCurve: string, algorithm: string, hash: string): KeyType => ({
  generate: () => generate('ec', { namedCurve }),
  algorithm,
  hash,
})

/** By the names of `podCertificate.keyType`. */
const keyTypes: ReadonlyMap<string, KeyType> = new Map([
  ['RSA3072', rsa(3072)],
  ['RSA4096', rsa(4096)],
  ['ECDSAP256', ecdsa('P-256', '300a06082a8648ce3d040302', 'sha256')],
  ['ECDSAP384', ecdsa('P-384', '300a06082a8648ce3d040303', 'sha384')],
  ['ECDSAP521', ecdsa('P-521', '300a06082a8648ce3d040304', 'sha512')],
  ['ED25519', { generate: () => generate('ed25519'), algorithm: '300506032b6570' }],
])

export interface KeyWithRequest {
  /** PKCS #8, as PEM. */
  readonly key: string
  /** DER. */
  readonly request: Buffer
}

/** Rejects with an Error for an unknown type. */
export async function newKey(keyType: string): Promise<KeyWithRequest> {
  const type = keyTypes.get(keyType)
  if (!type) throw new Error(`unknown key type ${JSON.stringify(keyType)}`)
  const { privateKey, publicKey } = await type.generate()
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return { key: String(key), request: signingRequest(type, privateKey, publicKey) }
}

const tags = { integer: 0x02, bits: 0x03, sequence: 0x30, attributes: 0xa0 } as const

function signingRequest({ algorithm, hash }: KeyType, privateKey: KeyObject, publicKey: KeyObject): Buffer {
  const info = der(
    tags.sequence,
    der(tags.integer, Buffer.of(0)),
    der(tags.sequence),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(tags.attributes),
  )
  const signature = sign(hash, info, privateKey)
  return der(tags.sequence, info, Buffer.from(algorithm, 'hex'), der(tags.bits, Buffer.of(0), signature))
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  return length < 0x100 ? Buffer.of(0x81, length) : Buffer.of(0x82, length >> 8, length & 0xff)
}
