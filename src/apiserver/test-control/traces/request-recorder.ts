/** The latest requests with their bodies, as they were: secret values are removed when a trace is written. */
import type { Request, Response } from '../../http/exchange.ts'
import type { RecordedBodies } from '../recorded-bodies.ts'
import { testControlPath } from '../request-match.ts'
import { recordBody, type SentBody } from './body-collector.ts'
import type { TracedRequest } from './trace-data.ts'

/** A request that is not yet fit for readers. */
export interface RecordedRequest extends Omit<TracedRequest, 'request' | 'response' | 'wrote'> {
  /** Cut off after 64 KiB. */
  readonly requestText: string
  readonly requestBytes: number
  readonly responseType: string | undefined
  /** Absent for streams, and if the limit of bytes has dropped it. */
  readonly responseBody: (() => SentBody) | undefined
  readonly isBodyDropped: boolean
}

interface Entry {
  readonly request: Omit<RecordedRequest, 'durationMs' | 'events' | 'requestText' | 'responseBody' | 'isBodyDropped'>
  readonly sentEvents: (() => number) | undefined
  durationMs: number | undefined
  requestText: string
  responseBody: (() => SentBody) | undefined
  bytes: number
  isBodyDropped: boolean
}

export interface RequestLimits {
  readonly requests: number
  /** Of all bodies; those of the oldest requests are dropped beyond it. */
  readonly bytes: number
}

export const requestLimits: RequestLimits = { requests: 10_000, bytes: 32 * 1024 * 1024 }

export interface RequestRecorderOptions {
  readonly bodies: RecordedBodies
  /** Returns the number of the fault that hit the request. */
  readonly faultOf: (request: Request) => number | undefined
  /** The time in ms since 1970. */
  readonly now: () => number
  readonly limits?: RequestLimits
}

export class RequestRecorder {
  readonly #options: RequestRecorderOptions
  readonly #limits: RequestLimits
  readonly #impersonators = new WeakMap<Request, string>()
  #entries: Entry[] = []
  /** The number of entries, from the oldest, whose bodies were dropped. */
  #withoutBodies = 0
  #bytes = 0
  #last = 0
  #isOn = false

  constructor(options: RequestRecorderOptions) {
    this.#options = options
    this.#limits = options.limits ?? requestLimits
  }

  start(): void {
    this.#isOn = true
  }

  /** Stops, and forgets all requests. Numbers go on. */
  stop(): void {
    this.#isOn = false
    this.#entries = []
    this.#withoutBodies = 0
    this.#bytes = 0
  }

  /** The number of the last request. */
  get position(): number {
    return this.#last
  }

  /** Called before the user is replaced by an impersonated one. */
  authenticated(request: Request): void {
    if (this.#isOn && request.hasHeaders('impersonate-')) this.#impersonators.set(request, request.user?.name ?? '')
  }

  /** Records an answered request. Returns the response to send. */
  answered(request: Request, response: Response): Response {
    if (!this.#isOn || request.path.startsWith(testControlPath)) return response
    const entry = this.#entryOf(request, response)
    this.#entries.push(entry)
    const recorded = recordBody(response, (bytes) => this.#add(entry, bytes))
    entry.responseBody = recorded.body
    this.#add(entry, entry.requestText.length)
    if (typeof response.body === 'function' || response.takeOver)
      request.onClose(() => (entry.durationMs = performance.now() - request.received))
    else entry.durationMs = performance.now() - request.received
    if (this.#entries.length > this.#limits.requests) this.#dropOldest()
    return recorded.response
  }

  /** Requests after a number, oldest first, and how many of them were dropped. */
  after(position: number): { readonly requests: readonly RecordedRequest[]; readonly dropped: number } {
    const found = this.#entries.filter(({ request }) => request.number > position)
    return {
      requests: found.map(({ request, sentEvents, durationMs, requestText, responseBody, isBodyDropped }) => ({
        ...request,
        ...(durationMs !== undefined && { durationMs: Math.round(durationMs * 10) / 10 }),
        ...(sentEvents && { events: sentEvents() }),
        ...{ requestText, responseBody, isBodyDropped },
      })),
      dropped: this.#last - position - found.length,
    }
  }

  #entryOf(request: Request, response: Response): Entry {
    const { bodies, faultOf, now } = this.#options
    const impersonator = this.#impersonators.get(request)
    const fault = faultOf(request)
    const responseType = response.headers['content-encoding'] ?? response.headers['content-type']
    return {
      request: {
        number: ++this.#last,
        time: Math.round(now() - (performance.now() - request.received)),
        ...bodies.factsOf(request, response),
        ...(impersonator !== undefined && { impersonator, groups: request.user?.groups ?? [] }),
        ...(fault !== undefined && { fault }),
        requestBytes: request.bodyBytes ?? 0,
        responseType: typeof responseType === 'string' ? responseType : undefined,
      },
      sentEvents: response.sentEvents,
      durationMs: undefined,
      requestText: bodies.of(request).text,
      ...{ responseBody: undefined, bytes: 0, isBodyDropped: false },
    }
  }

  #add(entry: Entry, bytes: number): void {
    if (entry.isBodyDropped || !this.#isOn) return
    entry.bytes += bytes
    this.#bytes += bytes
    for (; this.#bytes > this.#limits.bytes && this.#withoutBodies < this.#entries.length; this.#withoutBodies++)
      this.#dropBodies(this.#entries[this.#withoutBodies]!)
  }

  #dropBodies(entry: Entry): void {
    this.#bytes -= entry.bytes
    entry.isBodyDropped = entry.bytes > 0
    entry.bytes = 0
    entry.requestText = ''
    entry.responseBody = undefined
  }

  #dropOldest(): void {
    const entry = this.#entries.shift()
    this.#bytes -= entry?.bytes ?? 0
    this.#withoutBodies = Math.max(0, this.#withoutBodies - 1)
  }
}
