/** Verifies that a PKCS #10 request (RFC 2986) is well-formed and signed with its own key. */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { DerError, type DerValue, derSequence, derValues, tags } from './der.ts'
import { pemBlocks } from './pem-blocks.ts'

/** Returns Go's error message for a PEM text, or undefined if it is a valid request. */
export function signedRequestFault(text: string): string | undefined {
  const [block] = pemBlocks(text)
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  const read = signedRequestKey(block.bytes)
  return typeof read === 'string' ? read : undefined
}

/** Returns the key that has signed the request, or Go's error message. */
export function signedRequestKey(bytes: Buffer): KeyObject | string {
  try {
    return verifiedKey(bytes)
  } catch (error) {
    if (error instanceof DerError) return error.message
    throw error
  }
}

interface Algorithm {
  readonly type: 'rsa' | 'ec' | 'ed25519'
  /** Undefined if the algorithm implies the hash. */
  readonly hash?: string
  readonly pss?: boolean
}

/** By object identifier, in hex. SHA-1 is accepted, as upstream does. */
const algorithms: ReadonlyMap<string, Algorithm> = new Map([
  ['2a864886f70d010105', { type: 'rsa', hash: 'sha1' }],
  ['2a864886f70d01010b', { type: 'rsa', hash: 'sha256' }],
  ['2a864886f70d01010c', { type: 'rsa', hash: 'sha384' }],
  ['2a864886f70d01010d', { type: 'rsa', hash: 'sha512' }],
  ['2a864886f70d01010a', { type: 'rsa', pss: true }],
  ['2a8648ce3d0401', { type: 'ec', hash: 'sha1' }],
  ['2a8648ce3d040302', { type: 'ec', hash: 'sha256' }],
  ['2a8648ce3d040303', { type: 'ec', hash: 'sha384' }],
  ['2a8648ce3d040304', { type: 'ec', hash: 'sha512' }],
  ['2b6570', { type: 'ed25519' }],
])

/** Hashes in the parameters of RSASSA-PSS. */
const pssHashes: readonly (readonly [identifier: string, hash: string])[] = [
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
]

const goTypes: Readonly<Record<string, string>> = {
  rsa: '*rsa.PublicKey',
  ec: '*ecdsa.PublicKey',
  ed25519: 'ed25519.PublicKey',
}
const goNames: Readonly<Record<Algorithm['type'], string>> = { rsa: 'an RSA', ec: 'an ECDSA', ed25519: 'an Ed25519' }
const failures: Readonly<Record<Algorithm['type'], string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
}

function verifiedKey(bytes: Buffer): KeyObject | string {
  const [request, ...more] = derValues(bytes)
  if (more.length > 0) throw new DerError('asn1: syntax error: trailing data')
  const [info, algorithmIdentifier, signature] = derSequence(request)
  const [, , publicKey] = derSequence(info)
  const [identifier, parameters] = derSequence(algorithmIdentifier)
  derSequence(publicKey)
  if (identifier?.tag !== tags.objectIdentifier || signature?.tag !== tags.bitString)
    throw new DerError("asn1: structure error: tags don't match")
  const key = keyOf(publicKey!)
  if (!key) return 'x509: unsupported public key'
  const algorithm = algorithms.get(identifier.content.toString('hex'))
  if (!algorithm) return 'x509: cannot verify signature: algorithm unimplemented'
  const type = key.asymmetricKeyType ?? ''
  if (type !== algorithm.type)
    return (
      `x509: signature algorithm specifies ${goNames[algorithm.type]} public key, but have public key of type ` +
      `${goTypes[type] ?? type}`
    )
  return isValidSignature(algorithm, parameters, key, info!.whole, signature.content.subarray(1))
    ? key
    : failures[algorithm.type]
}

function keyOf({ whole }: DerValue): KeyObject | undefined {
  try {
    return createPublicKey({ key: whole, format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

/** Returns false too if OpenSSL does not support the key. */
function isValidSignature(
  algorithm: Algorithm,
  parameters: DerValue | undefined,
  key: KeyObject,
  signed: Buffer,
  signature: Buffer,
): boolean {
  try {
    return isSigned(algorithm, parameters, key, signed, signature)
  } catch {
    return false
  }
}

function isSigned(
  { hash, pss }: Algorithm,
  parameters: DerValue | undefined,
  key: KeyObject,
  signed: Buffer,
  signature: Buffer,
): boolean {
  if (!pss) return verify(hash ?? null, signed, key, signature)
  const named = parameters?.content.toString('hex') ?? ''
  const pssHash = pssHashes.find(([identifier]) => named.includes(identifier))?.[1] ?? 'sha1'
  return verify(
    pssHash,
    signed,
    { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO },
    signature,
  )
}
