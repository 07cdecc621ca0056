/**
 * `kms`, version 2 (KEP-3299): values are encrypted here, under a seed that the plug-in has encrypted and that stands with each value. The
 * plug-in is asked at the start, when its key changes, and for seeds that were not seen yet; never for a value.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { after } from '../../../../lib/flow/after.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import { dnsSubdomain } from '../../../../machinery/validation/names.ts'
import type { Decrypted, ValueTransformer } from '../../value-transformer.ts'
import { aesGcm } from '../aes-gcm.ts'
import { seededGcm, seedSize } from '../seeded-gcm.ts'
import type { KmsService } from './kms-service.ts'
import { type EncryptedObject, encryptedObject, readEncryptedObject, type Sealed, sourceTypes } from './messages.ts'

export interface KmsOptions {
  readonly name: string
  readonly service: KmsService
  readonly log: (line: string) => void
  readonly now?: () => number
}

/** The seed that values are written with. */
interface Seed {
  readonly sealed: Sealed
  readonly transformer: ValueTransformer
}

/** How often a plug-in is asked whether it is well, and while it is not. */
const wellPollMs = 60_000
const illPollMs = 10_000
/** Nothing is written under a seed after the plug-in was last well for this long: its key may have been revoked. */
const validMs = 3 * 60_000
const mostSeeds = 1000
const mostKeyIdBytes = 1024
const mostSourceBytes = 1024
const mostAnnotationBytes = 32 * 1024

export class KmsV2 implements ValueTransformer {
  readonly #options: KmsOptions
  readonly #now: () => number
  /** By everything that stands with a value: what its seed decrypts. */
  readonly #seeds = new Map<string, ValueTransformer>()
  readonly #unsealing = new Map<string, Promise<ValueTransformer>>()
  readonly #stopping = new AbortController()
  #current: Seed | undefined
  #validUntil = 0
  #problem: string | undefined = 'not yet asked'

  constructor(options: KmsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /** Why the plug-in cannot be used just now; undefined if all is well. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Asks the plug-in for the first time, and goes on asking. Resolves whether it is well or not. */
  async start(): Promise<void> {
    await this.#look()
    void this.#poll()
  }

  stop(): void {
    this.#stopping.abort()
    this.#options.service.close()
  }

  encrypt(value: Buffer, key: string): Buffer {
    const seed = this.#current
    if (!seed) throw new Error(`kms provider ${this.#options.name} is not ready: ${this.#problem}`)
    if (this.#now() > this.#validUntil)
      throw new Error(`encryptedDEKSource of kms provider ${this.#options.name} expired: ${this.#problem ?? 'its status is unknown'}`)
    const { ciphertext: source, keyId, annotations } = seed.sealed
    return encryptedObject({ data: seed.transformer.encrypt(value, key), keyId, source, annotations, sourceType: sourceTypes.seed })
  }

  decrypt(stored: Buffer, key: string): Decrypted | Promise<Decrypted> {
    const object = readEncryptedObject(stored)
    check(object)
    return after(this.#seeds.get(identityOf(object)) ?? this.#unseal(object), (transformer) =>
      after(transformer.decrypt(object.data, key), ({ value }) => ({ value, stale: this.#isStale(object) })),
    )
  }

  #isStale({ keyId, sourceType }: EncryptedObject): boolean {
    return keyId !== this.#current?.sealed.keyId || sourceType !== sourceTypes.seed
  }

  /** Has the plug-in decrypt what a value's key comes from, once for all who wait for it. */
  #unseal(object: EncryptedObject): Promise<ValueTransformer> {
    const identity = identityOf(object)
    let unsealing = this.#unsealing.get(identity)
    if (!unsealing) {
      unsealing = this.#ask(object, identity).finally(() => this.#unsealing.delete(identity))
      this.#unsealing.set(identity, unsealing)
    }
    return unsealing
  }

  async #ask(object: EncryptedObject, identity: string): Promise<ValueTransformer> {
    const { source: ciphertext, keyId, annotations, sourceType } = object
    const plaintext = await this.#options.service.decrypt({ ciphertext, keyId, annotations }).catch((error) => {
      throw new Error(`failed to decrypt DEK, error: ${messageOf(error)}`)
    })
    return this.#remember(identity, sourceType === sourceTypes.seed ? seededGcm(plaintext) : aesGcm(plaintext))
  }

  #remember(identity: string, transformer: ValueTransformer): ValueTransformer {
    const [oldest] = this.#seeds.keys()
    if (this.#seeds.size >= mostSeeds && oldest !== undefined) this.#seeds.delete(oldest)
    this.#seeds.set(identity, transformer)
    return transformer
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await delay(this.#problem === undefined ? wellPollMs : illPollMs, undefined, { signal, ref: false }).catch(() => {})
      if (!signal.aborted) await this.#look()
    }
  }

  /** Asks how the plug-in is; a key that is new gets a new seed. */
  async #look(): Promise<void> {
    const { name, service, log } = this.#options
    const before = this.#problem
    try {
      const { version, healthz, keyId } = await service.status()
      if (healthz !== 'ok') throw new Error(`got unexpected healthz status: ${healthz}`)
      if (version !== 'v2' && version !== 'v2beta1') throw new Error(`expected KMSv2 API version v2, got ${version}`)
      if (!keyId || Buffer.byteLength(keyId) > mostKeyIdBytes) throw new Error('got invalid KMSv2 KeyID')
      if (this.#current?.sealed.keyId !== keyId) await this.#renew()
      this.#validUntil = this.#now() + validMs
      this.#problem = undefined
    } catch (error) {
      this.#problem = messageOf(error)
    }
    if (this.#problem !== before && this.#problem !== undefined && !this.#stopping.signal.aborted) log(`kms provider ${name}: ${this.#problem}`)
  }

  async #renew(): Promise<void> {
    const seed = randomBytes(seedSize)
    const sealed = await this.#options.service.encrypt(seed).catch((error) => {
      throw new Error(`failed to encrypt DEK, error: ${messageOf(error)}`)
    })
    const object: EncryptedObject = {
      data: Buffer.from([0]),
      keyId: sealed.keyId,
      source: sealed.ciphertext,
      annotations: sealed.annotations,
      sourceType: sourceTypes.seed,
    }
    check(object)
    const transformer = seededGcm(seed)
    this.#remember(identityOf(object), transformer)
    this.#current = { sealed, transformer }
  }
}

/** Throws an Error for an envelope that cannot be. */
function check({ data, keyId, source, annotations, sourceType }: EncryptedObject): void {
  if (sourceType !== sourceTypes.key && sourceType !== sourceTypes.seed) throw new Error(`unknown encryptedDEKSourceType: ${sourceType}`)
  if (data.length === 0) throw new Error('encrypted data is empty')
  if (source.length === 0) throw new Error('failed to validate encrypted DEK source: encrypted DEK source is empty')
  if (source.length > mostSourceBytes)
    throw new Error(`failed to validate encrypted DEK source: encrypted DEK source is ${source.length} bytes, which exceeds the max size of ${mostSourceBytes}`)
  if (!keyId) throw new Error('failed to validate key id: keyID is empty')
  if (Buffer.byteLength(keyId) > mostKeyIdBytes)
    throw new Error(`failed to validate key id: keyID is ${Buffer.byteLength(keyId)} bytes, which exceeds the max size of ${mostKeyIdBytes}`)
  const names = Object.keys(annotations)
  const wrong = names.find((name) => !name.includes('.') || dnsSubdomain(name).length > 0)
  if (wrong !== undefined)
    throw new Error(`failed to validate annotations: annotations: ${JSON.stringify(wrong)} should be a domain with at least two segments separated by dots`)
  const size = names.reduce((sum, name) => sum + Buffer.byteLength(name) + annotations[name]!.length, 0)
  if (size > mostAnnotationBytes)
    throw new Error(`failed to validate annotations: total size of annotations is ${size}, which exceeds the max size of ${mostAnnotationBytes}`)
}

/** Everything that the plug-in is asked with. */
function identityOf({ source, keyId, annotations, sourceType }: EncryptedObject): string {
  const sorted = Object.keys(annotations).sort()
  return JSON.stringify([sourceType, keyId, source.toString('base64'), ...sorted.map((name) => [name, annotations[name]!.toString('base64')])])
}
