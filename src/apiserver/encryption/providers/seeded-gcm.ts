/**
 * AES-GCM with a separate key for each value, derived from a seed (HKDF-Expand with SHA-256, RFC 5869). Used by KMS v2.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { ValueTransformer } from '../value-transformer.ts'
import { aesGcm } from './aes-gcm.ts'

export const seedSize = 32
const infoSize = 32

/** A value is the input of the key derivation, followed by the `aesgcm` value. */
export const seededGcm = (seed: Uint8Array): ValueTransformer => ({
  encrypt(value, key) {
    const info = randomBytes(infoSize)
    return Buffer.concat([info, derived(seed, info).encrypt(value, key)])
  },
  decrypt(stored, key) {
    if (stored.length < infoSize) throw new Error('the stored data was shorter than the required size')
    return derived(seed, stored.subarray(0, infoSize)).decrypt(stored.subarray(infoSize), key)
  },
})

/** One block of the expansion has the length of the key. */
const derived = (seed: Uint8Array, info: Buffer): ValueTransformer =>
  aesGcm(
    createHmac('sha256', seed)
      .update(info)
      .update(Buffer.from([1]))
      .digest(),
  )
