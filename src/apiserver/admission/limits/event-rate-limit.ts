/**
 * EventRateLimit: limits the events per second of the server, of a namespace, of a user, or of a source about an
 * object.
 */
import type { CoreV1Event } from '@kubernetes/client-node'
import { decodeConfiguration, int32, listOf, structOf, text } from '../../../machinery/decode/configuration.ts'
import type { Model } from '../../../machinery/object.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { joinFaults } from './limit-constraints.ts'

interface Limit {
  readonly type?: string
  /** Events per second. */
  readonly qps?: number
  /** The size of the token bucket, in events. */
  readonly burst?: number
  /** The number of keys (namespaces, users, …) whose bucket is held in memory. */
  readonly cacheSize?: number
}

const configuration = {
  kind: 'Configuration',
  versions: ['eventratelimit.admission.k8s.io/v1alpha1'],
  fields: { limits: listOf(structOf('Limit', { type: text, qps: int32, burst: int32, cacheSize: int32 })) },
}

const defaultCacheSize = 4096

/** The key of the bucket of an event, by type of limit. */
const keys: Readonly<Record<string, (attributes: AdmissionAttributes) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject({ object }) {
    const { source, involvedObject } = object as Model<CoreV1Event>
    const { kind, namespace, name, uid, apiVersion } = involvedObject ?? {}
    return [source?.component, source?.host, kind, namespace, name, uid, apiVersion].join('')
  },
}

/** Throws an Error for a missing or invalid configuration. */
export function eventRateLimit(
  { find, configuration: own }: PluginSources,
  now: () => number = Date.now,
): AdmissionPlugin {
  const events = find('v1/events')
  const given = own('EventRateLimit')
  const { limits = [] } =
    given === undefined ? {} : decodeConfiguration<{ limits?: readonly Limit[] }>(given, configuration)
  const faults = faultsOf(limits)
  if (faults.length > 0) throw new Error(joinFaults(faults))
  const rates = limits.map((limit) => rateLimit(limit, now))
  return {
    name: 'EventRateLimit',
    handles: ['CREATE', 'UPDATE'],
    validate(attributes) {
      if (attributes.resource !== events || attributes.dryRun) return
      // An event counts for all limits, even if one of them rejects it.
      const refused = rates.flatMap((accepts) => accepts(attributes) ?? [])
      if (refused.length > 0) throw new StatusError(429, 'TooManyRequests', `Too many requests: ${joinFaults(refused)}`)
    },
  }
}

function faultsOf(limits: readonly Limit[]): string[] {
  if (limits.length === 0) return ['limits: Invalid value: []: must be non-empty']
  return limits.flatMap(({ type = '', qps = 0, burst = 0, cacheSize = 0 }, i) => [
    ...(Object.hasOwn(keys, type)
      ? []
      : [
          `limits[${i}].type: Unsupported value: ${JSON.stringify(type)}: supported values: ${Object.keys(keys)
            .sort()
            .map((name) => JSON.stringify(name))
            .join(', ')}`,
        ]),
    ...(burst <= 0 ? [`limits[${i}].burst: Invalid value: ${burst}: must be positive`] : []),
    ...(qps <= 0 ? [`limits[${i}].qps: Invalid value: ${qps}: must be positive`] : []),
    ...(type !== 'Server' && cacheSize < 0
      ? [`limits[${i}].cacheSize: Invalid value: ${cacheSize}: must not be negative`]
      : []),
  ])
}

interface Bucket {
  left: number
  /** The time of the last refill, in ms. */
  at: number
}

/**
 * Returns a function that returns the reason why an event is rejected; undefined if it is admitted. Beyond the cache
 * size the least recently used buckets are dropped: their keys start with a full bucket again.
 */
function rateLimit(
  { type = '', qps = 0, burst = 0, cacheSize = 0 }: Limit,
  now: () => number,
): (attributes: AdmissionAttributes) => string | undefined {
  const keyOf = keys[type]!
  const buckets = new Map<string, Bucket>()
  const maxBuckets = cacheSize || defaultCacheSize
  return (attributes) => {
    const key = keyOf(attributes)
    const at = now()
    const known = buckets.get(key)
    if (known) buckets.delete(key)
    else if (buckets.size >= maxBuckets) buckets.delete(buckets.keys().next().value!)
    const left = known ? Math.min(burst, known.left + ((at - known.at) / 1000) * qps) : burst
    buckets.set(key, { left: left >= 1 ? left - 1 : left, at })
    return left >= 1 ? undefined : `limit reached on type ${type} for key ${key}`
  }
}
