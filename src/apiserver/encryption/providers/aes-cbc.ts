/** `aescbc`: AES-CBC with PKCS #7 padding. It does not detect modified values; for existing data only. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { ValueTransformer } from '../value-transformer.ts'

const blockSize = 16

/** `secret` has 16, 24 or 32 bytes. A value is the initialization vector and the ciphertext. */
export function aesCbc(secret: Buffer): ValueTransformer {
  const cipher = `aes-${secret.length * 8}-cbc`
  return {
    encrypt(value) {
      const vector = randomBytes(blockSize)
      const encryption = createCipheriv(cipher, secret, vector)
      return Buffer.concat([vector, encryption.update(value), encryption.final()])
    },
    decrypt(stored) {
      if (stored.length < 2 * blockSize) throw new Error('the stored data was shorter than the required size')
      if (stored.length % blockSize !== 0) throw new Error('the stored data is not a multiple of the block size')
      const decryption = createDecipheriv(cipher, secret, stored.subarray(0, blockSize)).setAutoPadding(false)
      return {
        value: unpadded(Buffer.concat([decryption.update(stored.subarray(blockSize)), decryption.final()])),
        stale: false,
      }
    },
  }
}

/** Removes the padding: its bytes all hold its length. */
function unpadded(padded: Buffer): Buffer {
  const size = padded.at(-1) ?? 0
  if (size === 0 || size > padded.length) throw new Error('invalid PKCS7 data (empty or not padded)')
  const end = padded.length - size
  if (padded.subarray(end).some((byte) => byte !== size)) throw new Error('invalid padding on input')
  return padded.subarray(0, end)
}
