/** Tells in events what was done to an object, or could not be: `kubectl describe` and `kubectl events` show them. */
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { events } from '../kinds.ts'
import type { RestClient } from '../rest/rest-client.ts'
import { type Correlated, EventCorrelator } from './correlator.ts'
import { EventSender } from './event-sender.ts'
import { type EventSubject, eventPlace, subjectOf } from './event-subject.ts'

export type { EventSubject } from './event-subject.ts'

export type EventType = 'Normal' | 'Warning'

export class EventRecorder {
  readonly #client: RestClient
  readonly #component: string
  readonly #correlator: EventCorrelator
  readonly #sender: EventSender

  /**
   * `component` is who tells (`source.component`); `log` learns of events that cannot be told; `now` gives ms since
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
   * Never rejects and never waits. What is told again is counted, and of what is told too often a part is left out
   * (`events/correlator.ts`). `host` is the node that tells, where one does.
   */
  record(subject: KubeObject | EventSubject, type: EventType, reason: string, message: string, host = ''): void {
    const involvedObject = subjectOf(subject)
    const now = this.#now()
    const timestamp = withoutMs(now)
    const correlated = this.#correlator.correlate({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: eventPlace(involvedObject, now),
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

  /** Tells nothing more. */
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
          // Events do not live for ever.
          if (error instanceof StatusError && error.code === 404) return undefined
          throw error
        })
      if (counted) return
    }
    await this.#client.create(events, event)
  }
}

const withoutMs = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
