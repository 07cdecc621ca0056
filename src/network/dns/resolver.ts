/**
 * Answers questions: names of the cluster from its objects, those of stub domains and all others by the servers that
 * they are forwarded to.
 */
import type { Forwarder } from './forward/forwarder.ts'
import type { ResponseCache } from './forward/response-cache.ts'
import { type ForeignResponse, readForeignResponse } from './wire/foreign-response.ts'
import { labelsOf, nameBytes } from './wire/names.ts'
import type { Query } from './wire/query.ts'
import { classes, headerBytes, headerFlags, rcodes, types } from './wire/record-types.ts'
import {
  adaptResponse,
  type DnsRecord,
  encodeResponse,
  type ResponseContent,
  truncatedResponse,
} from './wire/response.ts'
import type { ClusterZone, ZoneAnswer } from './zone/cluster-zone.ts'
import { addressOfReverseName } from './zone/reverse-names.ts'
import { ZoneResponses } from './zone/zone-responses.ts'

/** A domain, and the servers that know it. */
export interface StubDomain {
  /** In lower case: `corp.example`. */
  readonly domain: string
  readonly forwarder: Forwarder
}

export interface ResolverOptions {
  readonly zone: ClusterZone
  /** `cluster.local`. */
  readonly domain: string
  /** Changes with the objects of the cluster. */
  readonly version: () => number
  /** True if the objects of the cluster are known. */
  readonly isReady: () => boolean
  readonly stubDomains: readonly StubDomain[]
  readonly forwarder: Forwarder
  readonly cache: ResponseCache
  /** The longest time in seconds for which responses of other servers are cached. */
  readonly maxCacheSeconds: number
  /** Notes a question that the cache of forwarded responses can or cannot answer. */
  readonly looked: (isHit: boolean) => void
}

const maxAliases = 8

const failure = (rcode: number): ResponseContent => ({ rcode, isAuthoritative: false, answers: [] })

export class Resolver {
  readonly #options: ResolverOptions
  readonly #domain: readonly string[]
  readonly #responses: ZoneResponses

  constructor(options: ResolverOptions) {
    this.#options = options
    this.#domain = labelsOf(options.domain)
    this.#responses = new ZoneResponses(options.version)
  }

  /** Returns a response of at most `limit` bytes. Never rejects. */
  respond(query: Query, limit: number): Buffer | Promise<Buffer> {
    if (query.class !== classes.internet) return encodeResponse(query, failure(rcodes.REFUSED), limit)
    const labels = this.#labelsInZone(query.labels)
    if (labels) return this.#fromZone(query, labels, limit)
    const address = query.labels.at(-1) === 'arpa' ? addressOfReverseName(query.labels) : undefined
    if (address !== undefined) {
      const known = this.#options.zone.reverse(address, query.labels.join('.'))
      if (known.rcode === rcodes.NOERROR) return this.#encode(query, ofType(known, query.type), limit)
    }
    return this.#forward(query, limit)
  }

  /** The labels before the domain; undefined for names outside of it. */
  #labelsInZone(labels: readonly string[]): readonly string[] | undefined {
    const rest = labels.length - this.#domain.length
    return rest >= 0 && this.#domain.every((label, index) => labels[rest + index] === label)
      ? labels.slice(0, rest)
      : undefined
  }

  #fromZone(query: Query, labels: readonly string[], limit: number): Buffer | Promise<Buffer> {
    const { zone, isReady } = this.#options
    if (!isReady()) return encodeResponse(query, failure(rcodes.SERVFAIL), limit)
    const known = this.#responses.get(query, limit)
    if (known) return known
    const answer = zone.answer(labels, query.type)
    if (answer.alias !== undefined && query.type !== types.CNAME) return this.#followAlias(query, answer, limit)
    const response = this.#encode(query, answer, limit)
    this.#responses.set(query, limit, response)
    return response
  }

  #encode(query: Query, { rcode, answers, additional }: ZoneAnswer, limit: number): Buffer {
    const authority = answers.length === 0 ? [this.#options.zone.authority] : []
    return encodeResponse(query, { rcode, isAuthoritative: true, answers, authority, additional }, limit)
  }

  async #followAlias(query: Query, answer: ZoneAnswer, limit: number): Promise<Buffer> {
    const answers: DnsRecord[] = [...answer.answers]
    let target = answer.alias
    for (let i = 0; target !== undefined && i < maxAliases; i++) {
      const labels: readonly string[] | undefined = this.#labelsInZone(labelsOf(target))
      const found: ZoneAnswer = labels
        ? this.#options.zone.answer(labels, query.type)
        : { rcode: rcodes.NOERROR, answers: await this.#lookUp(target, query.type), additional: [] }
      answers.push(...found.answers)
      target = found.alias
    }
    return this.#encode(query, { ...answer, answers }, limit)
  }

  /** The addresses of a name outside of the zone, with the aliases on the way. */
  async #lookUp(name: string, type: number): Promise<readonly DnsRecord[]> {
    if (type !== types.A && type !== types.AAAA) return []
    const labels = labelsOf(name)
    const message = queryMessage(labels, type)
    const response = await this.#forwarded(labels, `${labels.join('.')}/${type}/alias`, message)
    return response?.content.addresses ?? []
  }

  async #forward(query: Query, limit: number): Promise<Buffer> {
    if (!this.#forwarderOf(query.labels).hasServers) return encodeResponse(query, failure(rcodes.REFUSED), limit)
    const response = await this.#forwarded(query.labels, query.key, query.message)
    if (!response) return encodeResponse(query, failure(rcodes.SERVFAIL), limit)
    const { message, content } = response
    // Some errors come without the question.
    if (message.readUInt16BE(4) !== 1) return encodeResponse(query, failure(content.rcode), limit)
    return message.length > limit
      ? adaptResponse(truncatedResponse(message, query), query)
      : adaptResponse(message, query)
  }

  async #forwarded(
    labels: readonly string[],
    key: string,
    query: Buffer,
  ): Promise<{ readonly message: Buffer; readonly content: ForeignResponse } | undefined> {
    const { cache, maxCacheSeconds, looked } = this.#options
    const known = cache.get(key)
    looked(known !== undefined)
    if (known) return { message: known, content: readForeignResponse(known) }
    const received = await this.#forwarderOf(labels).ask(key, query)
    if (!received) return undefined
    try {
      const content = readForeignResponse(received)
      if (content.ttl > 0 && !content.isTruncated)
        cache.set(key, received, content.ttlOffsets, Math.min(content.ttl, maxCacheSeconds))
      // Others that wait for the same response get the same bytes.
      return { message: Buffer.from(received), content }
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  /** That of the longest stub domain that has the name. */
  #forwarderOf(labels: readonly string[]): Forwarder {
    const { stubDomains, forwarder } = this.#options
    const name = labels.join('.')
    const fitting = stubDomains.filter(({ domain }) => name === domain || name.endsWith(`.${domain}`))
    return fitting.sort((a, b) => b.domain.length - a.domain.length)[0]?.forwarder ?? forwarder
  }
}

/** An address has a name, and nothing else. */
const ofType = (answer: ZoneAnswer, type: number): ZoneAnswer =>
  type === types.PTR ? answer : { ...answer, answers: [] }

function queryMessage(labels: readonly string[], type: number): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt16BE(headerFlags.recursionDesired, 2)
  header.writeUInt16BE(1, 4)
  const end = Buffer.alloc(4)
  end.writeUInt16BE(type, 0)
  end.writeUInt16BE(classes.internet, 2)
  return Buffer.concat([header, nameBytes(labels), end])
}
