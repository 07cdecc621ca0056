/** `secretbox`: XSalsa20 and Poly1305, as in NaCl. */
import { randomBytes } from 'node:crypto'
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import type { ValueTransformer } from '../value-transformer.ts'

const nonceSize = 24
const tagSize = 16

/** `secret` has 32 bytes. A value is the nonce and the box. */
export const secretbox = (secret: Buffer): ValueTransformer => ({
  encrypt(value) {
    const nonce = randomBytes(nonceSize)
    return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(value)])
  },
  decrypt(stored) {
    if (stored.length < nonceSize + tagSize) throw new Error('the stored data was shorter than the required size')
    try {
      return {
        value: Buffer.from(xsalsa20poly1305(secret, stored.subarray(0, nonceSize)).decrypt(stored.subarray(nonceSize))),
        stale: false,
      }
    } catch (cause) {
      // Upstream's message for a wrong key.
      throw new Error('output array was not large enough for encryption', { cause })
    }
  },
})
