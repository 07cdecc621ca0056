/**
 * Keeps events few, with upstream's numbers: what is told again is counted in the event that tells it, what differs
 * only in its words becomes one event after ten of them in ten minutes, and of one object there are 25 at once and one
 * in five minutes from then on.
 */
import { type RateLimit, TokenBucket } from '../connection/pacing/token-bucket.ts'
import type { Event } from '../kinds.ts'
import { eventPlace } from './event-subject.ts'
import { Recent } from './recent.ts'

/** What is written: a new event, or the new count of one that is there. */
export interface Correlated {
  readonly event: Event
  readonly isNew: boolean
}

const remembered = 4096
const mostSimilar = 10
const similarMs = 600_000
const spamLimit: RateLimit = { qps: 1 / 300, burst: 25 }
const combined = '(combined from similar events): '

/** Events that differ only in their words. */
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
  readonly #similar = new Recent<Similar>(remembered)
  readonly #counted = new Recent<Counted>(remembered)
  readonly #spam = new Recent<TokenBucket>(remembered)

  /** `now` gives ms since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Undefined for an event too many. */
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
    if (similar.messages.size < mostSimilar)
      return { event, key: `${key}\0${event.involvedObject.fieldPath ?? ''}\0${message}` }
    // It is known to be too many: who they are does not matter any more.
    const [any = ''] = similar.messages
    similar.messages.delete(any)
    return {
      event: { ...event, metadata: eventPlace(event.involvedObject, now), message: `${combined}${message}` },
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
