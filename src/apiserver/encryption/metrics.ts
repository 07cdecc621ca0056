/** Metrics of value encryption and of KMS plug-ins, by upstream's names. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { grpcCodeOf } from '../../lib/grpc/grpc-error.ts'
import { exponentialBuckets } from '../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

export type Direction = 'from_storage' | 'to_storage'

export interface TransformationMetrics {
  /** A value was transformed in this time, or failed with `error`. */
  transformed(direction: Direction, prefix: string, seconds: number, error?: unknown): void
  /** The key of a value was not cached: a plug-in has to decrypt it. */
  cacheMissed(): void
  /** A seed was generated, in this time in seconds. */
  seeded(seconds: number): void
}

export interface PluginMetrics {
  /** A plug-in was called: `/v2.KeyManagementService/Encrypt`, in this time in seconds. */
  called(provider: string, method: string, seconds: number, error?: unknown): void
  /** A plug-in's key was used for a value. */
  keyUsed(direction: Direction, provider: string, keyId: string): void
  /** A plug-in reported its current key. */
  keyReported(provider: string, keyId: string): void
  /** A plug-in reported an invalid key id. */
  keyIdRejected(provider: string, why: 'empty' | 'too_long'): void
  /** The number of cached seeds of a plug-in. */
  setSeedCount(provider: string, count: number): void
}

export type EncryptionMetrics = TransformationMetrics & PluginMetrics

/** The number of keys in the metrics: the most recently used ones. */
const maxKeys = 100

/** The sha256 of a text in the form of labels; empty for an empty text. */
export const hashOf = (text: string): string => text && `sha256:${createHash('sha256').update(text).digest('hex')}`

interface KeyUse {
  readonly labels: readonly string[]
  count: number
  /** Seconds since 1970. */
  at: number
}

/** The most recently used keys by labels. The least recently used is dropped. */
class KeyUses {
  readonly #server = hashOf(hostname())
  readonly #uses = new Map<string, KeyUse>()

  use(keyId: string, ...rest: readonly string[]): void {
    const id = [keyId, ...rest].join('\0')
    const use = this.#uses.get(id) ?? { labels: [this.#server, hashOf(keyId), ...rest], count: 0, at: 0 }
    use.count++
    use.at = Date.now() / 1000
    this.#uses.delete(id)
    this.#uses.set(id, use)
    const [oldest] = this.#uses.keys()
    if (this.#uses.size > maxKeys && oldest !== undefined) this.#uses.delete(oldest)
  }

  read(value: 'count' | 'at'): (readonly [readonly string[], number])[] {
    return [...this.#uses.values()].map((use) => [use.labels, use[value]] as const)
  }
}

const storage = 'apiserver_storage'
const envelope = 'apiserver_envelope_encryption'

/** Registers the metrics. */
export const encryptionMetrics = (metrics: MetricsRegistry): EncryptionMetrics => ({
  ...transformationMetrics(metrics),
  ...pluginMetrics(metrics),
})

function transformationMetrics(metrics: MetricsRegistry): TransformationMetrics {
  const durations = metrics.histogram(
    `${storage}_transformation_duration_seconds`,
    'Latencies in seconds of value transformation operations.',
    exponentialBuckets(5e-6, 2, 25),
    ['transformation_type', 'transformer_prefix'],
  )
  const operations = metrics.counter(`${storage}_transformation_operations_total`, 'Total number of transformations.', [
    'status',
    'transformation_type',
    'transformer_prefix',
  ])
  const misses = metrics.counter(
    `${storage}_envelope_transformation_cache_misses_total`,
    'Total number of cache misses while accessing key decryption key(KEK).',
  )([])
  const seeding = metrics.histogram(
    `${storage}_data_key_generation_duration_seconds`,
    'Latencies in seconds of data encryption key(DEK) generation operations.',
    exponentialBuckets(5e-6, 2, 14),
  )([])
  return {
    transformed(direction, prefix, seconds, error) {
      operations([grpcCodeOf(error), direction, prefix]).add()
      if (error === undefined) durations([direction, prefix]).observe(seconds)
    },
    cacheMissed: () => misses.add(),
    seeded: (seconds) => seeding.observe(seconds),
  }
}

function pluginMetrics(metrics: MetricsRegistry): PluginMetrics {
  const calls = metrics.histogram(
    `${envelope}_kms_operations_latency_seconds`,
    'KMS operation duration with gRPC error code status total.',
    exponentialBuckets(0.0001, 2, 20),
    ['grpc_status_code', 'method_name', 'provider_name'],
  )
  const keys = keyMetrics(metrics)
  const invalid = metrics.counter(
    `${envelope}_invalid_key_id_from_status_total`,
    'Number of times an invalid keyID is returned by the Status RPC call split by error.',
    ['error', 'provider_name'],
  )
  const seedCounts = new Map<string, number>()
  metrics.gauge(
    `${envelope}_dek_source_cache_size`,
    'Number of records in data encryption key (DEK) source cache. On a restart, this value is an approximation ' +
      'of the number of decrypt RPC calls the server will make to the KMS plugin.',
    ['provider_name'],
    () => [...seedCounts].map(([provider, count]) => [[provider], count] as const),
  )
  return {
    ...keys,
    called: (provider, method, seconds, error) => calls([grpcCodeOf(error), method, provider]).observe(seconds),
    keyIdRejected: (provider, why) => invalid([why, provider]).add(),
    setSeedCount: (provider, count) => void seedCounts.set(provider, count),
  }
}

function keyMetrics(metrics: MetricsRegistry): Pick<PluginMetrics, 'keyUsed' | 'keyReported'> {
  const labels = ['apiserver_id_hash', 'key_id_hash', 'provider_name', 'transformation_type']
  const uses = new KeyUses()
  const statuses = new KeyUses()
  metrics.externalCounter(
    `${envelope}_key_id_hash_total`,
    'Number of times a keyID is used split by transformation type, provider, and apiserver identity.',
    labels,
    () => uses.read('count'),
  )
  metrics.gauge(
    `${envelope}_key_id_hash_last_timestamp_seconds`,
    'The last time in seconds when a keyID was used.',
    labels,
    () => uses.read('at'),
  )
  metrics.gauge(
    `${envelope}_key_id_hash_status_last_timestamp_seconds`,
    'The last time in seconds when a keyID was returned by the Status RPC call.',
    labels.slice(0, 3),
    () => statuses.read('at'),
  )
  return {
    keyUsed: (direction, provider, keyId) => uses.use(keyId, provider, direction),
    keyReported: (provider, keyId) => statuses.use(keyId, provider),
  }
}
