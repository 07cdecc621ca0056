/** The counters and histograms of requests. Series are found without building a key for each request. */
import type { CounterSeries, HistogramSeries, MetricsRegistry, SeriesOf } from '../../../lib/metrics/registry.ts'
import type { Request } from '../../http/exchange.ts'
import type { RequestInfo } from '../../request-info/request-info.ts'
import {
  definitionOf,
  type FindResource,
  scopeOf,
  shownVerb,
  targetLabels,
  targetOf,
  verbOf,
} from './request-labels.ts'

const durations = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
/** Seconds of the server's own work: without webhooks and queues. */
export const ownDurations = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
/** From 50 KB to 3 MB, the maximum size of a body. */
const bodySizes = Array.from({ length: 31 }, (_, at) => 50_000 + at * 100_000)
const sizes = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000]

type Histogram = 'duration' | 'own' | 'size' | 'body'
type Histograms = Readonly<Record<Histogram, () => HistogramSeries>>

/** The metrics of requests of one kind. Histograms are created by their first observation. */
class Tally {
  readonly total: CounterSeries
  readonly #histograms: Histograms
  readonly #created: Partial<Record<Histogram, HistogramSeries>> = {}

  constructor(total: CounterSeries, histograms: Histograms) {
    this.total = total
    this.#histograms = histograms
  }

  observe(histogram: Histogram, value: number): void {
    ;(this.#created[histogram] ??= this.#histograms[histogram]()).observe(value)
  }
}

/** A cached tally, with the properties of the requests that it counts. */
interface CachedTally {
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly subresource: string
  readonly scope: string
  readonly dryRun: string
  readonly status: number
  readonly tally: Tally
}

export class RequestTallies {
  readonly #find: FindResource
  readonly #total: SeriesOf<CounterSeries>
  readonly #histogramsOf: HistogramsOf
  /** By resource: a key of all properties would have to be built for each request. */
  readonly #cached = new Map<string, CachedTally[]>()

  constructor(metrics: MetricsRegistry, find: FindResource) {
    this.#find = find
    this.#total = metrics.counter('apiserver_request_total', 'Requests by verb, resource and HTTP code.', [
      'verb',
      'dry_run',
      ...targetLabels,
      'code',
    ])
    this.#histogramsOf = requestHistograms(metrics)
  }

  /** The metrics of a request that was answered with a status. */
  of(request: Request, status: number): Tally {
    const { info } = request
    const scope = scopeOf(request)
    const verb = verbOf(request)
    const dryRun = request.rawQuery !== '' && request.query.get('dryRun') === 'All' ? 'All' : ''
    const ofResource = this.#cached.get(info.resource)
    if (ofResource)
      for (const cached of ofResource) if (isOf(cached, verb, info, scope, dryRun, status)) return cached.tally
    const shown = shownVerb(verb)
    const definition = definitionOf(request, this.#find)
    const target = targetOf(request, definition)
    const subresource = target[3]!
    const tally = new Tally(
      this.#total([shown, dryRun, ...target, String(status)]),
      this.#histogramsOf(shown, dryRun, target, info.verb),
    )
    // Cache only tallies of known resources and verbs, which are limited in number.
    if (definition && shown === verb && subresource === info.subresource) {
      const { group, version } = info
      this.#cache(info.resource, { verb, group, version, subresource, scope, dryRun, status, tally })
    }
    return tally
  }

  #cache(resource: string, tally: CachedTally): void {
    const ofResource = this.#cached.get(resource)
    if (ofResource) ofResource.push(tally)
    else this.#cached.set(resource, [tally])
  }
}

const isOf = (
  cached: CachedTally,
  verb: string,
  { group, version, subresource }: RequestInfo,
  scope: string,
  dryRun: string,
  status: number,
): boolean =>
  cached.status === status &&
  cached.verb === verb &&
  cached.scope === scope &&
  cached.dryRun === dryRun &&
  cached.version === version &&
  cached.group === group &&
  cached.subresource === subresource

/** `verb` is the label; `infoVerb` the verb as authorization sees it. */
type HistogramsOf = (verb: string, dryRun: string, target: readonly string[], infoVerb: string) => Histograms

function requestHistograms(metrics: MetricsRegistry): HistogramsOf {
  const duration = metrics.histogram(
    'apiserver_request_duration_seconds',
    'Time to answer, watches left out.',
    durations,
    ['verb', 'dry_run', ...targetLabels],
  )
  const own = metrics.histogram(
    'apiserver_request_sli_duration_seconds',
    'Time to answer without webhooks and without queues, watches left out.',
    ownDurations,
    ['verb', ...targetLabels],
  )
  const size = metrics.histogram('apiserver_response_sizes', 'Bytes of answers.', sizes, ['verb', ...targetLabels])
  const body = metrics.histogram('apiserver_request_body_size_bytes', 'Bytes of the bodies of requests.', bodySizes, [
    'group',
    'resource',
    'verb',
  ])
  return (verb, dryRun, target, infoVerb) => ({
    duration: () => duration([verb, dryRun, ...target]),
    own: () => own([verb, ...target]),
    size: () => size([verb, ...target]),
    body: () => body([target[0]!, target[2]!, infoVerb]),
  })
}
