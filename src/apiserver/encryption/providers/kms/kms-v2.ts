/**
 * `kms`, version 2 (KEP-3299): values are encrypted locally with a seed, which the plug-in has encrypted and which is
 * stored with each value. The plug-in is called at the start, when its key changes, and for unknown seeds; never per
 * value.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { SourceType } from '#protobuf/kms-v2_pb.js'
import { bufferOf } from '../../../../lib/encoding/buffer-of.ts'
import { after } from '../../../../lib/flow/after.ts'
import { aggregated } from '../../../../lib/go/aggregate.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import { type EncryptionMetrics, hashOf } from '../../metrics.ts'
import type { Decrypted, ValueTransformer } from '../../value-transformer.ts'
import { aesGcm } from '../aes-gcm.ts'
import { seededGcm, seedSize } from '../seeded-gcm.ts'
import { checkEnvelope, decodeEnvelope, type Envelope, encodeEnvelope, identityOf, keyIdFault } from './envelope.ts'
import type { KeyService, KmsStatus, Sealed } from './kms-service.ts'

export interface KmsOptions {
  readonly name: string
  readonly service: KeyService
  readonly metrics: EncryptionMetrics
  readonly log: (line: string) => void
  /** Ms since 1970. */
  readonly now?: () => number
}

/** The seed for new values. */
interface Seed {
  readonly sealed: Sealed
  readonly transformer: ValueTransformer
  /** The time after which it must not encrypt; ms since 1970. */
  readonly validUntil: number
}

/** Polling intervals of the status in ms, while healthy and while unhealthy. */
const healthyPollMs = 60_000
const unhealthyPollMs = 10_000
/** The time in ms that a health check is cached, while healthy and while unhealthy. */
const healthyCacheMs = 20_000
const unhealthyCacheMs = 3_000
/**
 * A seed must not encrypt values after the plug-in was unhealthy for this time, in ms: its key may have been revoked.
 */
const validMs = 3 * 60_000
const maxSeeds = 1000
const noSeed = 'got unexpected nil transformer'

export class KmsV2 implements ValueTransformer {
  readonly #options: KmsOptions
  readonly #now: () => number
  /** By envelope identity: the transformer of its seed. */
  readonly #seeds = new Map<string, ValueTransformer>()
  readonly #unsealing = new Map<string, Promise<ValueTransformer>>()
  readonly #stopping = new AbortController()
  #current: Seed | undefined
  #version: string | undefined
  #problem: string | undefined
  #checking: Promise<string | undefined> | undefined
  /** The end of the cached health check; ms since 1970. */
  #cachedUntil = Number.NEGATIVE_INFINITY

  constructor(options: KmsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /**
   * Returns the problem of the plug-in; undefined if it is healthy. Calls it unless the last result is still cached.
   */
  async check(): Promise<string | undefined> {
    if (this.#now() < this.#cachedUntil) return this.#problem
    return (this.#checking ??= this.#checkStatus().finally(() => {
      this.#checking = undefined
    }))
  }

  /** Calls the plug-in for the first time and starts polling. Resolves whether it is healthy or not. */
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
    metrics.keyUsed('to_storage', name, keyId)
    return encodeEnvelope({ data, keyId, source, annotations, sourceType: SourceType.SEED })
  }

  decrypt(stored: Buffer, key: string): Decrypted | Promise<Decrypted> {
    const { name, metrics } = this.#options
    const envelope = decodeEnvelope(stored)
    // Without a current key, stale values cannot be detected.
    if (!this.#current) throw new Error(noSeed)
    return after(this.#seeds.get(identityOf(envelope)) ?? this.#unseal(envelope), (transformer) => {
      metrics.keyUsed('from_storage', name, envelope.keyId)
      return after(transformer.decrypt(bufferOf(envelope.data), key), ({ value }) => ({
        value,
        stale: this.#isStale(envelope),
      }))
    })
  }

  #isStale({ keyId, sourceType }: Envelope): boolean {
    return keyId !== this.#current?.sealed.keyId || sourceType !== SourceType.SEED
  }

  /** Lets the plug-in decrypt a seed, once for all concurrent reads. */
  #unseal(envelope: Envelope): Promise<ValueTransformer> {
    const identity = identityOf(envelope)
    let unsealing = this.#unsealing.get(identity)
    if (!unsealing) {
      this.#options.metrics.cacheMissed()
      unsealing = this.#decryptSeed(envelope, identity).finally(() => this.#unsealing.delete(identity))
      this.#unsealing.set(identity, unsealing)
    }
    return unsealing
  }

  async #decryptSeed(envelope: Envelope, identity: string): Promise<ValueTransformer> {
    const { source: ciphertext, keyId, annotations, sourceType } = envelope
    const plaintext = await this.#options.service.decrypt({ ciphertext, keyId, annotations }).catch((cause) => {
      throw new Error(`failed to decrypt DEK, error: ${messageOf(cause)}`, { cause })
    })
    if (sourceType === SourceType.SEED && plaintext.length < seedSize)
      throw new Error(`invalid seed length ${plaintext.length} used for key generation`)
    return this.#cacheSeed(identity, sourceType === SourceType.SEED ? seededGcm(plaintext) : aesGcm(plaintext))
  }

  #cacheSeed(identity: string, transformer: ValueTransformer): ValueTransformer {
    const { name, metrics } = this.#options
    const [oldest] = this.#seeds.keys()
    if (this.#seeds.size >= maxSeeds && oldest !== undefined) this.#seeds.delete(oldest)
    this.#seeds.set(identity, transformer)
    metrics.setSeedCount(name, this.#seeds.size)
    return transformer
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await delay(this.#problem === undefined ? healthyPollMs : unhealthyPollMs, undefined, {
        signal,
        ref: false,
      }).catch(() => {})
      if (!signal.aborted) await this.check()
    }
  }

  /** Calls the plug-in's status; a new key gets a new seed. Never rejects. */
  async #checkStatus(): Promise<string | undefined> {
    const { name, service, log } = this.#options
    const before = this.#problem
    const problem = await service.status().then(
      (status) => this.#evaluateStatus(status),
      (error) =>
        `failed to perform status section of the healthz check for KMS Provider ${name}, error: ${messageOf(error)}`,
    )
    this.#problem = problem
    this.#cachedUntil = this.#now() + (problem === undefined ? healthyCacheMs : unhealthyCacheMs)
    if (problem !== before && problem !== undefined && !this.#stopping.signal.aborted)
      log(`kms plugin failed health check probe: ${problem}`)
    return problem
  }

  async #evaluateStatus({ version, healthz, keyId }: KmsStatus): Promise<string | undefined> {
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
      metrics.keyIdRejected(name, wrong.code)
      faults.push(`got invalid KMSv2 KeyID hash "${hashOf(keyId)}": ${wrong.message}`)
    } else {
      metrics.keyReported(name, keyId)
      const fault = await this.#ensureSeed(keyId)
      if (fault) faults.push(fault)
    }
    return faults.length > 0 ? `kmsv2 Provider ${name} is not healthy, error: ${aggregated(faults)}` : undefined
  }

  /**
   * Ensures a seed for the plug-in's current key. Returns the error if that fails; the old seed remains usable until it
   * expires.
   */
  async #ensureSeed(keyId: string): Promise<string | undefined> {
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
      const envelope: Envelope = {
        data: Buffer.from([0]),
        keyId: writtenWith,
        source,
        annotations,
        sourceType: SourceType.SEED,
      }
      checkEnvelope(envelope)
      if (writtenWith === keyId) {
        const transformer = seededGcm(seed)
        this.#cacheSeed(identityOf(envelope), transformer)
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

/** Formats a time to the second, as Go's time.RFC3339. */
const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
