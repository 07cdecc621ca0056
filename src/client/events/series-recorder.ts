/**
 * Records events.k8s.io events (KEP-383): an event that repeats within minutes becomes a series, whose count is written
 * when it starts, every 30 minutes, and when it ends.
 */
import { hostname } from 'node:os'
import type { EventsV1Event } from '@kubernetes/client-node'
import { type Alarm, type Clock, every, systemClock } from '../../lib/clock/clock.ts'
import type { KubeObject, Model } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { resource } from '../resource.ts'
import type { RestClient } from '../rest/rest-client.ts'
import type { EventType } from './event-recorder.ts'
import { EventSender } from './event-sender.ts'
import { type EventSubject, eventMetadata, subjectOf } from './event-subject.ts'

type SeriesEvent = Model<EventsV1Event>

const seriesEvents = resource<SeriesEvent>('events.k8s.io/v1', 'Event', 'events')

/** An event of the API group events.k8s.io; equal ones become a series. */
export interface RecordedEvent {
  readonly regarding: KubeObject | EventSubject
  /** A second object. */
  readonly related?: KubeObject | EventSubject
  readonly type: EventType
  /** For example `Scheduled`. */
  readonly reason: string
  /** For example `Binding`. */
  readonly action: string
  readonly note: string
}

/** A series without a new event for this time has ended, in ms. */
const seriesTimeoutMs = 6 * 60_000
const refreshMs = 30 * 60_000
/** Limits the memory: further events are written, but do not become series. */
const maxTracked = 4096

interface TrackedEvent {
  readonly event: SeriesEvent
  lastMs: number
  count: number
  writtenMs: number
}

/**
 * Records events.k8s.io/v1 events in the background.
 * @example
 * const recorder = new SeriesRecorder(client, 'fleet-scheduler', console.error)
 * recorder.record({ regarding: pod, type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'bound to node-1' })
 */
export class SeriesRecorder {
  readonly #client: RestClient
  readonly #controller: string
  readonly #instance: string
  readonly #sender: EventSender
  readonly #clock: Clock
  readonly #tracked = new Map<string, TrackedEvent>()
  #refreshes: Alarm | undefined

  /** `controller` is the `reportingController`; `log` gets errors of writes. */
  constructor(client: RestClient, controller: string, log: (line: string) => void, clock: Clock = systemClock) {
    this.#client = client
    this.#controller = controller
    this.#instance = `${controller}-${hostname()}`
    this.#sender = new EventSender((line) => log(`${controller}: ${line}`))
    this.#clock = clock
  }

  /** Queues an event; never throws and never waits. */
  record({ regarding, related, type, reason, action, note }: RecordedEvent): void {
    const now = this.#clock.now()
    const about = subjectOf(regarding)
    const second = related && subjectOf(related)
    const key = JSON.stringify([type, action, reason, about, second])
    const tracked = this.#tracked.get(key)
    if (tracked) {
      tracked.count++
      tracked.lastMs = now
      // The second event starts a series; later counts are written by #refresh.
      if (tracked.count === 2) this.#write(tracked)
      return
    }
    const event: SeriesEvent = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: eventMetadata(about, now),
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
    const created: TrackedEvent = { event, lastMs: now, count: 1, writtenMs: now }
    if (this.#tracked.size < maxTracked) this.#tracked.set(key, created)
    this.#refreshes ??= every(this.#clock, seriesTimeoutMs, () => this.#refresh())
    this.#write(created)
  }

  /** Drops queued events and records no more. */
  stop(): void {
    this.#refreshes?.cancel()
    this.#sender.stop()
  }

  #refresh(): void {
    const now = this.#clock.now()
    for (const [key, tracked] of this.#tracked) {
      const ended = now - tracked.lastMs >= seriesTimeoutMs
      if (tracked.count > 1 && (ended || now - tracked.writtenMs >= refreshMs)) this.#write(tracked)
      if (ended) this.#tracked.delete(key)
    }
    if (this.#tracked.size > 0) return
    this.#refreshes?.cancel()
    this.#refreshes = undefined
  }

  #write(tracked: TrackedEvent): void {
    const { event, count, lastMs } = tracked
    tracked.writtenMs = this.#clock.now()
    const series = count > 1 ? { count, lastObservedTime: microTime(lastMs) } : undefined
    this.#sender.send(async () => {
      const { namespace = '', name = '' } = event.metadata
      const patched =
        series && (await this.#client.patch(seriesEvents, namespace, name, { series }).then(() => true, ignoreNotFound))
      if (!patched) await this.#client.create(seriesEvents, { ...event, ...(series && { series }) })
    }, `the event ${event.reason} of ${event.regarding?.kind} ${event.regarding?.name}`)
  }
}

/** Returns false for a deleted event; throws other errors. */
function ignoreNotFound(error: unknown): false {
  if (error instanceof StatusError && error.code === 404) return false
  throw error
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')
