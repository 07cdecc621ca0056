/**
 * `kms`, version 2 (KEP-3299): values are encrypted here, under a seed that the plug-in has encrypted and that stands
 * with each value. The plug-in is asked at the start, when its key changes, and for seeds that were not seen yet; never
 * for a value.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { after } from '../../../../lib/flow/after.ts'
import { aggregated } from '../../../../lib/go/aggregate.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import { type EncryptionMetrics, hashOf } from '../../metrics.ts'
import type { Decrypted, ValueTransformer } from '../../value-transformer.ts'
import { aesGcm } from '../aes-gcm.ts'
import { seededGcm, seedSize } from '../seeded-gcm.ts'
import { checkEnvelope, identityOf, keyIdFault } from './envelope.ts'
import type { KeyService } from './kms-service.ts'
import {
  type EncryptedObject,
  encryptedObject,
  type KmsStatus,
  readEncryptedObject,
  type Sealed,
  sourceTypes,
} from './messages.ts'

export interface KmsOptions {
  readonly name: string
  readonly service: KeyService
  readonly metrics: EncryptionMetrics
  readonly log: (line: string) => void
  /** Ms since 1970. */
  readonly now?: () => number
}

/** The seed that values are written with. */
interface Seed {
  readonly sealed: Sealed
  readonly transformer: ValueTransformer
  /** Nothing is written with it after; ms since 1970. */
  readonly validUntil: number
}

/** How often a plug-in is asked whether it is well, and while it is not. */
const wellPollMs = 60_000
const illPollMs = 10_000
/** How long an answer counts for those who ask about its health. */
const wellAnswerMs = 20_000
const illAnswerMs = 3_000
/** Nothing is written under a seed after the plug-in was last well for this long: its key may have been revoked. */
const validMs = 3 * 60_000
const mostSeeds = 1000
const noSeed = 'got unexpected nil transformer'

export class KmsV2 implements ValueTransformer {
  readonly #options: KmsOptions
  readonly #now: () => number
  /** By everything that stands with a value: what its seed decrypts. */
  readonly #seeds = new Map<string, ValueTransformer>()
  readonly #unsealing = new Map<string, Promise<ValueTransformer>>()
  readonly #stopping = new AbortController()
  #current: Seed | undefined
  #version: string | undefined
  #problem: string | undefined
  #checking: Promise<string | undefined> | undefined
  /** What was said last counts until then; ms since 1970. */
  #answerUntil = Number.NEGATIVE_INFINITY

  constructor(options: KmsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /** Why the plug-in cannot be used just now; undefined if all is well. Asks it, unless it was asked just before. */
  async check(): Promise<string | undefined> {
    if (this.#now() < this.#answerUntil) return this.#problem
    return (this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined
    }))
  }

  /** Asks the plug-in for the first time, and goes on asking. Resolves whether it is well or not. */
  async start(): Promise<void> {
    await this.check()
    void this.#poll()
  }

  stop(): void {
    this.#stopping.abort()
    this.#options.service.close()
  }

  encrypt(value: Buffer, key: string): Buffer {
    const { name, metrics } = this.#options
    const seed = this.#current
    if (!seed) throw new Error(noSeed)
    const { ciphertext: source, keyId, annotations } = seed.sealed
    const now = this.#now()
    if (now > seed.validUntil)
      throw new Error(
        `encryptedDEKSource with keyID hash "${hashOf(keyId)}" expired at ${rfc3339(seed.validUntil)} (current ` +
          `time is ${rfc3339(now)})`,
      )
    const data = seed.transformer.encrypt(value, key)
    metrics.used('to_storage', name, keyId)
    return encryptedObject({ data, keyId, source, annotations, sourceType: sourceTypes.seed })
  }

  decrypt(stored: Buffer, key: string): Decrypted | Promise<Decrypted> {
    const { name, metrics } = this.#options
    const object = readEncryptedObject(stored)
    checkEnvelope(object)
    // Nobody can tell whether a value is stale as long as no key is known.
    if (!this.#current) throw new Error(noSeed)
    return after(this.#seeds.get(identityOf(object)) ?? this.#unseal(object), (transformer) => {
      metrics.used('from_storage', name, object.keyId)
      return after(transformer.decrypt(object.data, key), ({ value }) => ({ value, stale: this.#isStale(object) }))
    })
  }

  #isStale({ keyId, sourceType }: EncryptedObject): boolean {
    return keyId !== this.#current?.sealed.keyId || sourceType !== sourceTypes.seed
  }

  /** Has the plug-in decrypt what a value's key comes from, once for all who wait for it. */
  #unseal(object: EncryptedObject): Promise<ValueTransformer> {
    const identity = identityOf(object)
    let unsealing = this.#unsealing.get(identity)
    if (!unsealing) {
      this.#options.metrics.missed()
      unsealing = this.#ask(object, identity).finally(() => this.#unsealing.delete(identity))
      this.#unsealing.set(identity, unsealing)
    }
    return unsealing
  }

  async #ask(object: EncryptedObject, identity: string): Promise<ValueTransformer> {
    const { source: ciphertext, keyId, annotations, sourceType } = object
    const plaintext = await this.#options.service.decrypt({ ciphertext, keyId, annotations }).catch((cause) => {
      throw new Error(`failed to decrypt DEK, error: ${messageOf(cause)}`, { cause })
    })
    if (sourceType === sourceTypes.seed && plaintext.length < seedSize)
      throw new Error(`invalid seed length ${plaintext.length} used for key generation`)
    return this.#remember(identity, sourceType === sourceTypes.seed ? seededGcm(plaintext) : aesGcm(plaintext))
  }

  #remember(identity: string, transformer: ValueTransformer): ValueTransformer {
    const { name, metrics } = this.#options
    const [oldest] = this.#seeds.keys()
    if (this.#seeds.size >= mostSeeds && oldest !== undefined) this.#seeds.delete(oldest)
    this.#seeds.set(identity, transformer)
    metrics.seeds(name, this.#seeds.size)
    return transformer
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await delay(this.#problem === undefined ? wellPollMs : illPollMs, undefined, { signal, ref: false }).catch(
        () => {},
      )
      if (!signal.aborted) await this.check()
    }
  }

  /** Asks how the plug-in is; a key that is new gets a new seed. Never rejects. */
  async #look(): Promise<string | undefined> {
    const { name, service, log } = this.#options
    const before = this.#problem
    const problem = await service.status().then(
      (status) => this.#judge(status),
      (error) =>
        `failed to perform status section of the healthz check for KMS Provider ${name}, error: ${messageOf(error)}`,
    )
    this.#problem = problem
    this.#answerUntil = this.#now() + (problem === undefined ? wellAnswerMs : illAnswerMs)
    if (problem !== before && problem !== undefined && !this.#stopping.signal.aborted)
      log(`kms plugin failed health check probe: ${problem}`)
    return problem
  }

  async #judge({ version, healthz, keyId }: KmsStatus): Promise<string | undefined> {
    const { name, metrics } = this.#options
    const faults: string[] = []
    if (healthz !== 'ok') faults.push(`got unexpected healthz status: ${healthz}`)
    if (version !== 'v2' && version !== 'v2beta1') faults.push(`expected KMSv2 API version v2, got ${version}`)
    else if (version !== (this.#version ??= version))
      faults.push(
        `KMSv2 API version should not change after the initial status response version ${this.#version}, got ` +
          `${version}`,
      )
    const wrong = keyIdFault(keyId)
    if (wrong) {
      metrics.refused(name, wrong.code)
      faults.push(`got invalid KMSv2 KeyID hash "${hashOf(keyId)}": ${wrong.message}`)
    } else {
      metrics.told(name, keyId)
      const fault = await this.#follow(keyId)
      if (fault) faults.push(fault)
    }
    return faults.length > 0 ? `kmsv2 Provider ${name} is not healthy, error: ${aggregated(faults)}` : undefined
  }

  /**
   * Has a seed for the key that the plug-in writes with now. Says why there is none; the one before is good until its
   * time has come.
   */
  async #follow(keyId: string): Promise<string | undefined> {
    const before = this.#current
    const validUntil = this.#now() + validMs
    if (before?.sealed.keyId === keyId) {
      this.#current = { ...before, validUntil }
      return undefined
    }
    const uid = randomUUID()
    let sealed: Sealed | undefined
    let error = '<nil>'
    try {
      const { service, metrics } = this.#options
      const start = performance.now()
      const seed = randomBytes(seedSize)
      metrics.seeded((performance.now() - start) / 1000)
      sealed = await service.encrypt(seed, uid).catch((cause) => {
        throw new Error(`failed to encrypt DEK, error: ${messageOf(cause)}`)
      })
      const { ciphertext: source, keyId: writtenWith, annotations } = sealed
      const object: EncryptedObject = {
        data: Buffer.from([0]),
        keyId: writtenWith,
        source,
        annotations,
        sourceType: sourceTypes.seed,
      }
      checkEnvelope(object)
      if (writtenWith === keyId) {
        const transformer = seededGcm(seed)
        this.#remember(identityOf(object), transformer)
        this.#current = { sealed, transformer, validUntil }
        return undefined
      }
    } catch (thrown) {
      error = messageOf(thrown)
      sealed = undefined
    }
    return [
      `failed to rotate DEK uid="${uid}", useSeed=true, errState=${before ? '<nil>' : noSeed}, errGen=${error}, ` +
        `statusKeyIDHash="${hashOf(keyId)}"`,
      `encryptKeyIDHash="${hashOf(sealed?.keyId ?? '')}", stateKeyIDHash="${hashOf(before?.sealed.keyId ?? '')}"`,
      `expirationTimestamp=${before ? rfc3339(before.validUntil) : '0001-01-01T00:00:00Z'}`,
    ].join(', ')
  }
}

/** To the second, as Go's time.RFC3339. */
const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
