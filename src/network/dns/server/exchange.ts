/** One message and its response: what UDP and TCP share. */
import type { Resolver } from '../resolver.ts'
import { type Query, readQuery } from '../wire/query.ts'
import { encodeRefusal } from '../wire/response.ts'
import type { DnsMetrics, Transport } from './dns-metrics.ts'

/** The place of a listener. */
export interface ListenerOptions {
  readonly address: string
  /** 0 takes a free one. */
  readonly port: number
  /** True for addresses of clients that are answered; others get nothing. */
  readonly serves: (client: string) => boolean
}

/** Queries that wait for other servers at the same time; others are dropped, and clients repeat them. */
const maxWaiting = 10_000

export class Exchange {
  readonly #resolver: Resolver
  readonly #metrics: DnsMetrics
  #waiting = 0

  constructor(resolver: Resolver, metrics: DnsMetrics) {
    this.#resolver = resolver
    this.#metrics = metrics
  }

  /** Returns undefined for messages that get no response. */
  respond(
    message: Buffer,
    transport: Transport,
    limitOf: (query: Query) => number,
  ): Buffer | Promise<Buffer> | undefined {
    const startedAt = performance.now()
    const query = readQuery(message)
    if (!query) return undefined
    if ('rcode' in query) {
      const refusal = encodeRefusal(query)
      this.#metrics.refused(transport, message.length, refusal)
      return refusal
    }
    if (this.#waiting >= maxWaiting) return undefined
    const response = this.#resolver.respond(query, limitOf(query))
    if (Buffer.isBuffer(response)) {
      this.#metrics.answered(query, transport, response, startedAt)
      return response
    }
    this.#waiting++
    return response.then((late) => {
      this.#waiting--
      this.#metrics.answered(query, transport, late, startedAt)
      return late
    })
  }
}
