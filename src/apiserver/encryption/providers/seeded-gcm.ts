/**
 * AES-GCM under a key of its own for each value, derived from a seed (HKDF-Expand with SHA-256, RFC 5869): what KMS v2
 * encrypts values with.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { ValueTransformer } from '../value-transformer.ts'
import { aesGcm } from './aes-gcm.ts'

export const seedSize = 32
const infoSize = 32

/** A value is what its key is derived from, and then as `aesgcm` has it. */
export const seededGcm = (seed: Buffer): ValueTransformer => ({
  encrypt(value, key) {
    const info = randomBytes(infoSize)
    return Buffer.concat([info, derived(seed, info).encrypt(value, key)])
  },
  decrypt(stored, key) {
    if (stored.length < infoSize) throw new Error('the stored data was shorter than the required size')
    return derived(seed, stored.subarray(0, infoSize)).decrypt(stored.subarray(infoSize), key)
  },
})

/** The first block of the expansion is as long as the key. */
const derived = (seed: Buffer, info: Buffer): ValueTransformer =>
  aesGcm(
    createHmac('sha256', seed)
      .update(info)
      .update(Buffer.from([1]))
      .digest(),
  )
