/** The latest requests of a server, for the assertions of tests. */
import type { Request, Response } from '../http/exchange.ts'
import type { RecordedBodies } from './recorded-bodies.ts'
import type { RequestFacts } from './request-facts.ts'
import { isOfTestKit } from './request-match.ts'

/** One request and its answer. */
export interface LoggedRequest extends RequestFacts {
  /** Increases from request to request, in the order in which they were answered. */
  readonly number: number
  /** The time of arrival (RFC 3339). */
  readonly time: string
  /** Time until the response began, in ms. */
  readonly durationMs: number
  /** The number of the fault that hit it. */
  readonly fault?: number
  /** The body as text, cut off after 64 KiB; only if it was read, and the log is asked for bodies. */
  readonly body?: string
}

const maxRequests = 10_000
/** Bodies of the oldest requests are dropped beyond this length in total. */
const maxBodies = 16 * 1024 * 1024

export class RequestLog {
  readonly #entries: (LoggedRequest & { readonly text: string })[] = []
  readonly #bodies: RecordedBodies
  readonly #hits = new WeakMap<Request, number>()
  readonly #now: () => number
  #bodyLength = 0
  #last = 0
  #dropped = 0
  #cleared = 0

  /** `now` is the time in ms since 1970. */
  constructor(bodies: RecordedBodies, now: () => number) {
    this.#bodies = bodies
    this.#now = now
  }

  /** Records that a fault hit the request. */
  hit(request: Request, fault: number): void {
    this.#hits.set(request, fault)
  }

  /** Returns the number of the fault that hit the request. */
  faultOf(request: Request): number | undefined {
    return this.#hits.get(request)
  }

  /** Adds an answered request; the oldest one is dropped if there are more than 10,000. */
  end(request: Request, response: Response): void {
    if (isOfTestKit(request)) return
    const { text } = this.#bodies.of(request)
    const durationMs = performance.now() - request.received
    const fault = this.#hits.get(request)
    this.#entries.push({
      number: ++this.#last,
      time: new Date(this.#now() - durationMs).toISOString(),
      ...this.#bodies.factsOf(request, response),
      durationMs: Math.round(durationMs * 10) / 10,
      ...(fault !== undefined && { fault }),
      text,
    })
    this.#bodyLength += text.length
    while (this.#entries.length > maxRequests || this.#bodyLength > maxBodies) this.#drop()
  }

  /** Requests after a number, and how many of them were dropped. */
  list(after: number, withBodies: boolean): { readonly requests: readonly LoggedRequest[]; readonly dropped: number } {
    const requests = this.#entries
      .filter(({ number }) => number > after)
      .map(({ text, ...entry }) => (withBodies && text ? { ...entry, body: text } : entry))
    return { requests, dropped: Math.max(0, this.#dropped - Math.max(after, this.#cleared)) }
  }

  /** Forgets all requests up to now; numbers go on. */
  clear(): void {
    this.#entries.length = 0
    this.#bodyLength = 0
    this.#cleared = this.#last
  }

  #drop(): void {
    const entry = this.#entries.shift()
    this.#bodyLength -= entry?.text.length ?? 0
    this.#dropped = entry?.number ?? this.#dropped
  }
}
