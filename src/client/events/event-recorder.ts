/** Records events about objects, which `kubectl describe` and `kubectl events` show. */
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { events } from '../kinds.ts'
import type { RestClient } from '../rest/rest-client.ts'
import { type Correlated, EventCorrelator } from './correlator.ts'
import { EventSender } from './event-sender.ts'
import { type EventSubject, eventMetadata, subjectOf } from './event-subject.ts'

export type { EventSubject } from './event-subject.ts'

/** The type of an Event object. */
export type EventType = 'Normal' | 'Warning'

/**
 * Records core/v1 events in the background, with upstream's aggregation and spam limits.
 * @example
 * const recorder = new EventRecorder(client, 'fleet-controller', console.error)
 * recorder.record(fleet, 'Normal', 'Scaled', 'scaled to 3 replicas')
 */
export class EventRecorder {
  readonly #client: RestClient
  readonly #component: string
  readonly #correlator: EventCorrelator
  readonly #sender: EventSender

  /**
   * `component` is the reporting component (`source.component`); `log` gets errors of writes; `now` returns ms since
   * 1970.
   */
  constructor(client: RestClient, component: string, log: (line: string) => void, now: () => number = Date.now) {
    this.#client = client
    this.#component = component
    this.#correlator = new EventCorrelator(now)
    this.#sender = new EventSender((line) => log(`${component}: ${line}`))
    this.#now = now
  }

  readonly #now: () => number

  /**
   * Queues an event; never throws and never waits. A repeated event increases a count, and frequent events are dropped
   * (`events/correlator.ts`). `host` is the name of the reporting node.
   */
  record(
    subject: KubeObject | EventSubject,
    type: EventType,
    reason: string,
    message: string,
    host = '',
    annotations?: Readonly<Record<string, string>>,
  ): void {
    const involvedObject = subjectOf(subject)
    const now = this.#now()
    const timestamp = withoutMs(now)
    const correlated = this.#correlator.correlate({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { ...eventMetadata(involvedObject, now), ...(annotations && { annotations }) },
      involvedObject,
      type,
      reason,
      message,
      source: { component: this.#component, ...(host && { host }) },
      reportingComponent: this.#component,
      reportingInstance: host,
      count: 1,
      firstTimestamp: timestamp,
      lastTimestamp: timestamp,
    })
    if (correlated)
      this.#sender.send(
        () => this.#write(correlated),
        `the event ${reason} of ${involvedObject.kind} ${involvedObject.name}`,
      )
  }

  /** Drops queued events and records no more. */
  stop(): void {
    this.#sender.stop()
  }

  async #write({ event, isNew }: Correlated): Promise<void> {
    const { namespace = '', name = '' } = event.metadata
    if (!isNew) {
      const { count, lastTimestamp, message } = event
      const counted = await this.#client
        .patch(events, namespace, name, { count, lastTimestamp, message })
        .catch((error) => {
          // Events expire.
          if (error instanceof StatusError && error.code === 404) return undefined
          throw error
        })
      if (counted) return
    }
    await this.#client.create(events, event)
  }
}

const withoutMs = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
