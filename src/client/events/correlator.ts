/**
 * Reduces events, with upstream's limits: an equal event increases a count, ten events within ten minutes that differ
 * only in their message are combined, and each object has a burst of 25 events, then one per five minutes.
 */
import { type RateLimit, TokenBucket } from '../connection/pacing/token-bucket.ts'
import type { Event } from '../kinds.ts'
import { eventMetadata } from './event-subject.ts'
import { LruMap } from './lru-map.ts'

/** A new event, or an update of the count of an existing one. */
export interface Correlated {
  readonly event: Event
  readonly isNew: boolean
}

const maxEntries = 4096
const maxSimilar = 10
const similarMs = 600_000
const spamLimit: RateLimit = { qps: 1 / 300, burst: 25 }
const combinedPrefix = '(combined from similar events): '

/** Events that differ only in their message. */
interface Similar {
  readonly messages: Set<string>
  lastMs: number
}

interface Counted {
  readonly name: string
  readonly firstTimestamp: string | undefined
  count: number
}

export class EventCorrelator {
  readonly #now: () => number
  readonly #similar = new LruMap<Similar>(maxEntries)
  readonly #counted = new LruMap<Counted>(maxEntries)
  readonly #spam = new LruMap<TokenBucket>(maxEntries)

  /** `now` returns ms since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Returns undefined for an event over the limit. */
  correlate(event: Event): Correlated | undefined {
    const { event: aggregated, key } = this.#aggregate(event)
    const observed = this.#count(aggregated, key)
    return this.#isSpam(event) ? undefined : observed
  }

  #aggregate(event: Event): { readonly event: Event; readonly key: string } {
    const now = this.#now()
    const { message = '' } = event
    const key = similarKey(event)
    let similar = this.#similar.get(key)
    if (!similar || now - similar.lastMs > similarMs) similar = { messages: new Set(), lastMs: now }
    similar.messages.add(message)
    similar.lastMs = now
    this.#similar.set(key, similar)
    if (similar.messages.size < maxSimilar)
      return { event, key: `${key}\0${event.involvedObject.fieldPath ?? ''}\0${message}` }
    // The limit is reached; the messages themselves no longer matter, so the set does not grow.
    const [any = ''] = similar.messages
    similar.messages.delete(any)
    return {
      event: { ...event, metadata: eventMetadata(event.involvedObject, now), message: `${combinedPrefix}${message}` },
      key,
    }
  }

  #count(event: Event, key: string): Correlated {
    const counted = this.#counted.get(key)
    if (!counted) {
      this.#counted.set(key, { name: event.metadata.name ?? '', firstTimestamp: event.firstTimestamp, count: 1 })
      return { event, isNew: true }
    }
    counted.count++
    const { name, firstTimestamp, count } = counted
    return { event: { ...event, metadata: { ...event.metadata, name }, firstTimestamp, count }, isNew: false }
  }

  #isSpam(event: Event): boolean {
    const key = objectKey(event)
    let bucket = this.#spam.get(key)
    if (!bucket) this.#spam.set(key, (bucket = new TokenBucket(spamLimit, this.#now)))
    return !bucket.tryTake()
  }
}

const objectKey = ({ source, involvedObject: { kind, namespace, name, uid, apiVersion } }: Event): string =>
  [source?.component, source?.host, kind, namespace, name, uid, apiVersion].join('\0')

const similarKey = (event: Event): string =>
  [objectKey(event), event.type, event.reason, event.reportingComponent, event.reportingInstance].join('\0')
