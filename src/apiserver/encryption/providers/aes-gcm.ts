/** `aesgcm`: AES-GCM with a random nonce. Rotate a key before it has encrypted some hundred thousand values. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { ValueTransformer } from '../value-transformer.ts'

const nonceSize = 12
const tagSize = 16

/** `secret` has 16, 24 or 32 bytes. A value is the nonce, the ciphertext and the tag. */
export function aesGcm(secret: Uint8Array): ValueTransformer {
  const cipher = secret.length === 16 ? 'aes-128-gcm' : secret.length === 24 ? 'aes-192-gcm' : 'aes-256-gcm'
  return {
    encrypt(value, key) {
      const nonce = randomBytes(nonceSize)
      const encryption = createCipheriv(cipher, secret, nonce).setAAD(Buffer.from(key))
      return Buffer.concat([nonce, encryption.update(value), encryption.final(), encryption.getAuthTag()])
    },
    decrypt(stored, key) {
      if (stored.length < nonceSize) throw new Error('the stored data was shorter than the required size')
      if (stored.length < nonceSize + tagSize) throw new Error('cipher: message authentication failed')
      const decryption = createDecipheriv(cipher, secret, stored.subarray(0, nonceSize)).setAAD(Buffer.from(key))
      decryption.setAuthTag(stored.subarray(-tagSize))
      try {
        return {
          value: Buffer.concat([decryption.update(stored.subarray(nonceSize, -tagSize)), decryption.final()]),
          stale: false,
        }
      } catch (cause) {
        throw new Error('cipher: message authentication failed', { cause })
      }
    },
  }
}
