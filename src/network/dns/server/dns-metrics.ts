/** The metrics of DNS, with CoreDNS's names. */
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import type { CounterSeries, HistogramSeries, MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { Query } from '../wire/query.ts'
import { rcodeText, typeText } from '../wire/record-types.ts'

export type Transport = 'udp' | 'tcp'

const durationBuckets = exponentialBuckets(0.00025, 2, 16)
const sizeBuckets = [0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000]
const server = 'dns://:53'
const zone = '.'

/** Counts what the server does. */
export class DnsMetrics {
  readonly #requests: (values: readonly string[]) => CounterSeries
  readonly #responses: (values: readonly string[]) => CounterSeries
  readonly #durations: HistogramSeries
  readonly #sizes: Readonly<
    Record<Transport, { readonly requests: HistogramSeries; readonly responses: HistogramSeries }>
  >
  readonly #lookups: Readonly<Record<'hit' | 'miss', CounterSeries>>
  readonly #forwards: (values: readonly string[]) => HistogramSeries
  readonly #failures: (values: readonly string[]) => CounterSeries
  /** Series of requests by type and transport, and of responses by code. */
  readonly #known = new Map<number, CounterSeries>()

  constructor(registry: MetricsRegistry, cacheSize: () => number) {
    const labels = ['server', 'zone', 'view']
    const counter = (name: string, help: string, ...more: readonly string[]) =>
      registry.counter(`coredns_${name}`, help, [...labels, ...more])
    const sizes = (name: string, help: string) =>
      registry.histogram(`coredns_dns_${name}_size_bytes`, help, sizeBuckets, [...labels, 'proto'])
    this.#requests = counter('dns_requests_total', 'DNS requests.', 'proto', 'family', 'type')
    this.#responses = counter('dns_responses_total', 'DNS responses by response code.', 'rcode', 'plugin')
    const durations = registry.histogram(
      'coredns_dns_request_duration_seconds',
      'Time in seconds that each request took.',
      durationBuckets,
      labels,
    )
    this.#durations = durations([server, zone, ''])
    const requests = sizes('request', 'Sizes of requests in bytes.')
    const responses = sizes('response', 'Sizes of responses in bytes.')
    const ofTransport = (proto: Transport) => ({
      requests: requests([server, zone, '', proto]),
      responses: responses([server, zone, '', proto]),
    })
    this.#sizes = { udp: ofTransport('udp'), tcp: ofTransport('tcp') }
    this.#lookups = {
      hit: registry.counter('coredns_cache_hits_total', 'Forwarded responses from the cache.', ['server', 'type'])([
        server,
        'success',
      ]),
      miss: registry.counter('coredns_cache_misses_total', 'Forwarded questions that the cache cannot answer.', [
        'server',
      ])([server]),
    }
    registry.gauge('coredns_cache_entries', 'Responses in the cache.', ['server', 'type'], () => [
      [[server, 'success'], cacheSize()],
    ])
    this.#forwards = registry.histogram(
      'coredns_proxy_request_duration_seconds',
      'Time in seconds that each forwarded request took.',
      durationBuckets,
      ['proxy_name', 'to', 'rcode'],
    )
    this.#failures = registry.counter('coredns_proxy_healthcheck_failures_total', 'Requests without an answer.', [
      'proxy_name',
      'to',
    ])
  }

  answered(query: Query, transport: Transport, response: Buffer, startedAt: number): void {
    this.#count(query.type, transport, response)
    this.#durations.observe((performance.now() - startedAt) / 1000)
    this.#sizes[transport].requests.observe(query.message.length)
  }

  /** Notes a message that was refused without a look at its name. */
  refused(transport: Transport, requestBytes: number, response: Buffer): void {
    this.#count(0, transport, response)
    this.#sizes[transport].requests.observe(requestBytes)
  }

  /** Notes a question to the cache of forwarded responses. */
  looked(isHit: boolean): void {
    this.#lookups[isHit ? 'hit' : 'miss'].add()
  }

  /** Notes a question to another server. */
  asked(to: string, isAnswered: boolean, seconds: number): void {
    if (isAnswered) this.#forwards(['forward', to, 'NOERROR']).observe(seconds)
    else this.#failures(['forward', to]).add()
  }

  #count(type: number, transport: Transport, response: Buffer): void {
    const rcode = response.readUInt16BE(2) & 15
    this.#seriesOf(2 * type + (transport === 'udp' ? 0 : 1), () =>
      this.#requests([server, zone, '', transport, '1', typeText(type)]),
    ).add()
    this.#seriesOf(-1 - rcode, () => this.#responses([server, zone, '', rcodeText(rcode), ''])).add()
    this.#sizes[transport].responses.observe(response.length)
  }

  #seriesOf(key: number, create: () => CounterSeries): CounterSeries {
    let series = this.#known.get(key)
    if (!series) this.#known.set(key, (series = create()))
    return series
  }
}
