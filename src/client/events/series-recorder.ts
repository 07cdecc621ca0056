/**
 * Tells events of events.k8s.io (KEP-383): what is told again within minutes becomes a series of the same event, whose
 * count is written when it begins, every half an hour, and when it has ended.
 */
import { hostname } from 'node:os'
import type { EventsV1Event } from '@kubernetes/client-node'
import type { KubeObject, Model } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { resource } from '../resource.ts'
import type { RestClient } from '../rest/rest-client.ts'
import type { EventType } from './event-recorder.ts'
import { EventSender } from './event-sender.ts'
import { type EventSubject, eventPlace, subjectOf } from './event-subject.ts'

type SeriesEvent = Model<EventsV1Event>

const seriesEvents = resource<SeriesEvent>('events.k8s.io/v1', 'Event', 'events')

export interface RecordedEvent {
  readonly regarding: KubeObject | EventSubject
  /** A second object that it is about. */
  readonly related?: KubeObject | EventSubject
  readonly type: EventType
  /** Why, in one word: `Scheduled`. */
  readonly reason: string
  /** What was done: `Binding`. */
  readonly action: string
  readonly note: string
}

/** A series that nothing was added to for so long has ended. Milliseconds. */
const endedMs = 6 * 60_000
const refreshMs = 30 * 60_000
/** More different events than these are not watched for series. */
const mostKnown = 4096

interface Known {
  readonly event: SeriesEvent
  lastMs: number
  count: number
  writtenMs: number
}

export class SeriesRecorder {
  readonly #client: RestClient
  readonly #controller: string
  readonly #instance: string
  readonly #sender: EventSender
  readonly #now: () => number
  readonly #known = new Map<string, Known>()
  #timer: NodeJS.Timeout | undefined

  /** `controller` is who tells (`reportingController`). */
  constructor(client: RestClient, controller: string, log: (line: string) => void, now: () => number = Date.now) {
    this.#client = client
    this.#controller = controller
    this.#instance = `${controller}-${hostname()}`
    this.#sender = new EventSender((line) => log(`${controller}: ${line}`))
    this.#now = now
  }

  /** Never rejects and never waits. */
  record({ regarding, related, type, reason, action, note }: RecordedEvent): void {
    const now = this.#now()
    const about = subjectOf(regarding)
    const second = related && subjectOf(related)
    const key = JSON.stringify([type, action, reason, about, second])
    const known = this.#known.get(key)
    if (known) {
      known.count++
      known.lastMs = now
      // The second makes it a series; how long that is, is written now and then.
      if (known.count === 2) this.#write(known)
      return
    }
    const event: SeriesEvent = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: eventPlace(about, now),
      eventTime: microTime(now),
      reportingController: this.#controller,
      reportingInstance: this.#instance,
      type,
      reason,
      action,
      note,
      regarding: about,
      ...(second && { related: second }),
    }
    const told: Known = { event, lastMs: now, count: 1, writtenMs: now }
    if (this.#known.size < mostKnown) this.#known.set(key, told)
    this.#timer ??= setInterval(() => this.#refresh(), endedMs).unref()
    this.#write(told)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#sender.stop()
  }

  #refresh(): void {
    const now = this.#now()
    for (const [key, known] of this.#known) {
      const ended = now - known.lastMs >= endedMs
      if (known.count > 1 && (ended || now - known.writtenMs >= refreshMs)) this.#write(known)
      if (ended) this.#known.delete(key)
    }
    if (this.#known.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #write(known: Known): void {
    const { event, count, lastMs } = known
    known.writtenMs = this.#now()
    const series = count > 1 ? { count, lastObservedTime: microTime(lastMs) } : undefined
    this.#sender.send(async () => {
      const { namespace = '', name = '' } = event.metadata
      const patched =
        series && (await this.#client.patch(seriesEvents, namespace, name, { series }).then(() => true, isGone))
      if (!patched) await this.#client.create(seriesEvents, { ...event, ...(series && { series }) })
    }, `the event ${event.reason} of ${event.regarding?.kind} ${event.regarding?.name}`)
  }
}

/** False for an event that has gone; other errors are thrown on. */
function isGone(error: unknown): false {
  if (error instanceof StatusError && error.code === 404) return false
  throw error
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')
