/** Keys of WireGuard: numbers of Curve25519 of 32 bytes (RFC 7748), written in base64. */
import { createPrivateKey, createPublicKey } from 'node:crypto'

export const keySize = 32
/** PKCS #8 and SPKI of a key of X25519, before its bytes (RFC 8410). */
const privatePrefix = Buffer.from('302e020100300506032b656e04220420', 'hex')

/** Makes a private key from random bytes. */
export function privateKeyFrom(random: Uint8Array): Buffer {
  const key = Buffer.from(random)
  key[0] = key[0]! & 0xf8
  key[31] = (key[31]! & 0x7f) | 0x40
  return key
}

export function publicKeyOf(privateKey: Buffer): Buffer {
  const key = createPrivateKey({ key: Buffer.concat([privatePrefix, privateKey]), format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-keySize)
}

/** Returns the bytes of a key in base64; undefined for other texts. */
export function parseKey(text: string): Buffer | undefined {
  const bytes = Buffer.from(text.trim(), 'base64')
  return bytes.length === keySize && bytes.toString('base64') === text.trim() ? bytes : undefined
}
