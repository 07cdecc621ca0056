/** Tells in events what was done to an object, or could not be: `kubectl describe` and `kubectl events` show them. */
import type { KubeObject } from '../machinery/object.ts'
import { type Event, events } from './kinds.ts'
import type { RestClient } from './rest-client.ts'

export type EventType = 'Normal' | 'Warning'

/** What an event is about: an object, or a reference to one. */
export interface EventSubject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

const isObject = (subject: KubeObject | EventSubject): subject is KubeObject => 'metadata' in subject

const subjectOf = ({ apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } }: KubeObject): EventSubject => ({
  apiVersion,
  kind,
  namespace,
  name,
  uid,
  resourceVersion,
})

/** Events of what has no namespace are in this one. */
const clusterNamespace = 'default'
const nanosecondsPerMs = 1_000_000

export class EventRecorder {
  readonly #client: RestClient
  readonly #component: string
  readonly #log: (line: string) => void

  constructor(client: RestClient, component: string, log: (line: string) => void) {
    this.#client = client
    this.#component = component
    this.#log = log
  }

  /** Never rejects and never waits: an event that cannot be told is logged. */
  tell(subject: KubeObject | EventSubject, type: EventType, reason: string, message: string): void {
    const about = isObject(subject) ? subjectOf(subject) : subject
    const namespace = about.namespace || clusterNamespace
    const now = new Date()
    const event: Event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, name: `${about.name}.${(now.getTime() * nanosecondsPerMs).toString(16)}${Math.random().toString(16).slice(2, 6)}` },
      involvedObject: { ...about },
      type,
      reason,
      message,
      source: { component: this.#component },
      reportingComponent: this.#component,
      reportingInstance: '',
      count: 1,
      firstTimestamp: withoutMs(now),
      lastTimestamp: withoutMs(now),
    }
    this.#client
      .create(events, event)
      .catch((error) => this.#log(`${this.#component}: the event ${reason} of ${about.kind} ${about.name} is lost: ${error.message}`))
  }
}

const withoutMs = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`
