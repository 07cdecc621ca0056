/** Metrics of requests, under upstream's names. */
import type { CounterSeries, HistogramSeries, MetricsRegistry, SeriesOf } from '../../../lib/metrics/registry.ts'
import type { Request, Response } from '../../http/exchange.ts'
import { waitedMs } from '../../request-info/waited-time.ts'
import { isLongRunning } from '../lifetime/long-running.ts'
import { definitionOf, type FindResource, shownVerb, targetLabels, targetOf, verbOf } from './request-labels.ts'
import { ownDurations, RequestTallies } from './request-tallies.ts'

export class RequestMetrics {
  readonly #find: FindResource
  readonly #tallies: RequestTallies
  readonly #validations: ValidationDurations
  readonly #longRunning: LongRunningRequests
  readonly #terminations: SeriesOf<CounterSeries>
  readonly #running = { mutating: 0, readOnly: 0 }

  /** `find` decides which resources are known, for labels. */
  constructor(metrics: MetricsRegistry, find: FindResource) {
    this.#find = find
    this.#tallies = new RequestTallies(metrics, find)
    this.#validations = new ValidationDurations(metrics)
    this.#longRunning = new LongRunningRequests(metrics)
    this.#terminations = metrics.counter(
      'apiserver_request_terminations_total',
      'Requests that the server refused or gave up to protect itself.',
      ['verb', ...targetLabels, 'code'],
    )
    metrics.gauge('apiserver_current_inflight_requests', 'Short requests under way.', ['request_kind'], () => [
      [['mutating'], this.#running.mutating],
      [['readOnly'], this.#running.readOnly],
    ])
  }

  begin(request: Request): void {
    this.#running[kindOf(request)]++
  }

  end(request: Request, { status, body }: Response): void {
    this.#running[kindOf(request)]--
    const tally = this.#tallies.of(request, status)
    tally.total.add()
    if (typeof body === 'function' && isLongRunning(request.info))
      this.#longRunning.begin(request, this.#verbAndTarget(request))
    if (request.info.verb === 'watch' && status === 200) return
    const took = performance.now() - request.received
    tally.observe('duration', took / 1000)
    tally.observe('own', (took - waitedMs(request)) / 1000)
    if (Buffer.isBuffer(body)) tally.observe('size', body.length)
    const { bodyBytes } = request
    if (bodyBytes === undefined) return
    tally.observe('body', bodyBytes)
    this.#validations.observe(request, took / 1000)
  }

  /** Counts a request that the server has rejected or aborted to protect itself. */
  terminated(request: Request, code: number): void {
    this.#terminations([...this.#verbAndTarget(request), String(code)]).add()
  }

  #verbAndTarget(request: Request): string[] {
    return [shownVerb(verbOf(request)), ...targetOf(request, definitionOf(request, this.#find))]
  }
}

const kindOf = (request: Request): 'mutating' | 'readOnly' =>
  request.method === 'GET' || request.method === 'HEAD' ? 'readOnly' : 'mutating'

/** Values of fieldValidation; as upstream, all others count as the default. */
const validations = ['Ignore', 'Warn', 'Strict']

/** Observes the time to answer writes, by how fields are validated. */
class ValidationDurations {
  readonly #series: ReadonlyMap<string, HistogramSeries>
  readonly #default: HistogramSeries

  constructor(metrics: MetricsRegistry) {
    const validated = metrics.histogram(
      'field_validation_request_duration_seconds',
      'Time to answer writes, by how fields are validated.',
      ownDurations,
      ['field_validation'],
    )
    this.#series = new Map(validations.map((name) => [name, validated([name])]))
    this.#default = validated(['Warn'])
  }

  observe({ rawQuery, query }: Request, seconds: number): void {
    const fieldValidation = rawQuery === '' ? null : query.get('fieldValidation')
    ;(this.#series.get(fieldValidation ?? '') ?? this.#default).observe(seconds)
  }
}

/** Counts watches, and connections through the server, until their clients disconnect. */
class LongRunningRequests {
  readonly #running = new Map<string, { readonly labels: readonly string[]; count: number }>()

  constructor(metrics: MetricsRegistry) {
    metrics.gauge('apiserver_longrunning_requests', 'Long-running requests under way.', ['verb', ...targetLabels], () =>
      [...this.#running.values()].map(({ labels, count }) => [labels, count] as const),
    )
  }

  begin(request: Request, labels: readonly string[]): void {
    const key = labels.join(' ')
    const requests = this.#running.get(key) ?? { labels, count: 0 }
    this.#running.set(key, requests)
    requests.count++
    request.onClose(() => requests.count--)
  }
}
