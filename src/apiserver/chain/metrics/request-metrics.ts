/** Metrics of requests, under upstream's names. */
import type { ResourceDefinition } from '../../../api/resource.ts'
import type { CounterSeries, HistogramSeries, MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { Request, Response } from '../../http/exchange.ts'
import { applyType } from '../../request/bodies/read-applied.ts'
import type { RequestInfo } from '../../request-info/request-info.ts'
import { isLongRunning } from '../lifetime/long-running.ts'

const durations = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
/** Seconds of the server's own work: without webhooks and queues. */
const ownDurations = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
/** From 50 KB to 3 MB, the maximum size of a body. */
const bodySizes = Array.from({ length: 31 }, (_, at) => 50_000 + at * 100_000)
const sizes = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000]

export interface RequestMetrics {
  begin(request: Request): void
  end(request: Request, response: Response): void
  /** Counts a request that the server has rejected or aborted to protect itself. */
  terminated(request: Request, code: number): void
}

function scopeOf({ info: { isResourceRequest, verb, name, namespace } }: Request): string {
  if (!isResourceRequest) return ''
  if (verb === 'create' || (name && verb !== 'list' && verb !== 'watch')) return 'resource'
  return namespace ? 'namespace' : 'cluster'
}

/** The label value for each verb. */
const verbNames: ReadonlyMap<string, string> = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
])
/** Subresources that are connections to something else. */
const connections: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** The method, except for requests that it does not identify: lists, watches, applies and connections. */
function verbOf(request: Request): string {
  const { verb, isResourceRequest, subresource } = request.info
  if (!isResourceRequest) return request.method
  if (connections.has(subresource)) return 'CONNECT'
  if (verb === 'patch' && request.header('content-type') === applyType) return 'APPLY'
  return verbNames.get(verb) ?? verb.toUpperCase()
}

const nothing = { group: '', version: '', plural: '' }

/** Finds the resource that is served with a group, version and plural. */
export type FindResource = (group: string, version: string, plural: string) => ResourceDefinition | undefined

const verbs: ReadonlySet<string> = new Set([...verbNames.values(), 'APPLY', 'CONNECT', 'HEAD', 'OPTIONS', 'PROXY'])
const shownVerb = (verb: string): string => (verbs.has(verb) ? verb : 'other')
const isSubresource = (
  { subresources: { status, scale, special = [] } = {} }: ResourceDefinition,
  name: string,
): boolean =>
  (name === 'status' && status === true) ||
  (name === 'scale' && scale !== undefined) ||
  special.some((one) => one.name === name)

/** Labels for the target of a request. */
const targetLabels = ['group', 'version', 'resource', 'subresource', 'scope', 'component']

/** The metrics of requests of one kind. Histograms are created by their first observation. */
class Tally {
  readonly total: CounterSeries
  readonly #histograms: Readonly<Record<Histogram, () => HistogramSeries>>
  readonly #created: Partial<Record<Histogram, HistogramSeries>> = {}

  constructor(total: CounterSeries, histograms: Readonly<Record<Histogram, () => HistogramSeries>>) {
    this.total = total
    this.#histograms = histograms
  }

  observe(histogram: Histogram, value: number): void {
    ;(this.#created[histogram] ??= this.#histograms[histogram]()).observe(value)
  }
}

type Histogram = 'duration' | 'own' | 'size' | 'body'

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

/** Values of fieldValidation; as upstream, all others count as the default. */
const validations = ['Ignore', 'Warn', 'Strict']

function requestHistograms(metrics: MetricsRegistry) {
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
  const validated = metrics.histogram(
    'field_validation_request_duration_seconds',
    'Time to answer writes, by how fields are validated.',
    ownDurations,
    ['field_validation'],
  )
  const byValidation = new Map(validations.map((name) => [name, validated([name])]))
  return {
    of: (
      verb: string,
      dryRun: string,
      about: readonly string[],
      infoVerb: string,
    ): Readonly<Record<Histogram, () => HistogramSeries>> => ({
      duration: () => duration([verb, dryRun, ...about]),
      own: () => own([verb, ...about]),
      size: () => size([verb, ...about]),
      body: () => body([about[0]!, about[2]!, infoVerb]),
    }),
    validation({ rawQuery, query }: Request, seconds: number): void {
      const asked = rawQuery === '' ? null : query.get('fieldValidation')
      ;(byValidation.get(asked ?? 'Warn') ?? byValidation.get('Warn')!).observe(seconds)
    },
  }
}

/** Counts watches, and connections through the server, until their clients disconnect. */
function longRunningRequests(metrics: MetricsRegistry): (request: Request, labels: readonly string[]) => void {
  const underWay = new Map<string, { readonly labels: readonly string[]; count: number }>()
  metrics.gauge('apiserver_longrunning_requests', 'Long-running requests under way.', ['verb', ...targetLabels], () =>
    [...underWay.values()].map(({ labels, count }) => [labels, count] as const),
  )
  return (request, labels) => {
    const key = labels.join(' ')
    const requests = underWay.get(key) ?? { labels, count: 0 }
    underWay.set(key, requests)
    requests.count++
    request.onClose(() => requests.count--)
  }
}

/**
 * Labels only have values that the server knows: clients could create any number of series otherwise. `find` decides
 * that.
 */
export function requestMetrics(metrics: MetricsRegistry, find: FindResource): RequestMetrics {
  const total = metrics.counter('apiserver_request_total', 'Requests by verb, resource and HTTP code.', [
    'verb',
    'dry_run',
    ...targetLabels,
    'code',
  ])
  const histograms = requestHistograms(metrics)
  const longRunning = longRunningRequests(metrics)
  const terminations = metrics.counter(
    'apiserver_request_terminations_total',
    'Requests that the server refused or gave up to protect itself.',
    ['verb', ...targetLabels, 'code'],
  )
  const deprecated = new Map<string, readonly string[]>()
  metrics.gauge(
    'apiserver_requested_deprecated_apis',
    'Deprecated APIs that have been requested.',
    [...targetLabels.slice(0, 4), 'removed_release'],
    () => [...deprecated.values()].map((about) => [about, 1]),
  )
  const running = { mutating: 0, readOnly: 0 }
  metrics.gauge('apiserver_current_inflight_requests', 'Short requests under way.', ['request_kind'], () => [
    [['mutating'], running.mutating],
    [['readOnly'], running.readOnly],
  ])
  const kindOf = (request: Request): 'mutating' | 'readOnly' =>
    request.method === 'GET' || request.method === 'HEAD' ? 'readOnly' : 'mutating'
  const definitionOf = ({ info }: Request): ResourceDefinition | undefined =>
    info.isResourceRequest ? find(info.group, info.version, info.resource) : undefined

  function aboutOf(request: Request, definition: ResourceDefinition | undefined): readonly string[] {
    const { subresource: asked } = request.info
    const { group, version, plural } = definition ?? nothing
    return [
      group,
      version,
      plural,
      definition && asked && isSubresource(definition, asked) ? asked : '',
      scopeOf(request),
      'apiserver',
    ]
  }

  function countDeprecated(request: Request): void {
    const about = aboutOf(request, definitionOf(request)).slice(0, 4)
    if (about[2]) deprecated.set(about.join(' '), [...about, ''])
  }

  /** By resource: a key of all properties would have to be built for each request. */
  const tallies = new Map<string, CachedTally[]>()

  function cache(resource: string, tally: CachedTally): void {
    const ofResource = tallies.get(resource)
    if (ofResource) ofResource.push(tally)
    else tallies.set(resource, [tally])
  }

  function tallyOf(request: Request, status: number): Tally {
    const { info } = request
    const scope = scopeOf(request)
    const verb = verbOf(request)
    const dryRun = request.rawQuery !== '' && request.query.get('dryRun') === 'All' ? 'All' : ''
    const ofResource = tallies.get(info.resource)
    if (ofResource)
      for (const cached of ofResource) if (isOf(cached, verb, info, scope, dryRun, status)) return cached.tally
    const shown = shownVerb(verb)
    const definition = definitionOf(request)
    const about = aboutOf(request, definition)
    const subresource = about[3]!
    const tally = new Tally(
      total([shown, dryRun, ...about, String(status)]),
      histograms.of(shown, dryRun, about, info.verb),
    )
    // Cache only tallies of known resources and verbs, which are limited in number.
    if (definition && shown === verb && subresource === info.subresource)
      cache(info.resource, {
        verb,
        group: info.group,
        version: info.version,
        subresource,
        scope,
        dryRun,
        status,
        tally,
      })
    return tally
  }

  return {
    begin(request) {
      running[kindOf(request)]++
    },
    end(request, { status, body }) {
      running[kindOf(request)]--
      if (request.isDeprecated) countDeprecated(request)
      const tally = tallyOf(request, status)
      tally.total.add()
      if (typeof body === 'function' && isLongRunning(request.info))
        longRunning(request, [shownVerb(verbOf(request)), ...aboutOf(request, definitionOf(request))])
      if (request.info.verb === 'watch' && status === 200) return
      const took = performance.now() - request.received
      tally.observe('duration', took / 1000)
      tally.observe('own', (took - (request.waitedMs ?? 0)) / 1000)
      if (Buffer.isBuffer(body)) tally.observe('size', body.length)
      if (request.bodyBytes === undefined) return
      tally.observe('body', request.bodyBytes)
      histograms.validation(request, took / 1000)
    },
    terminated: (request, code) =>
      terminations([shownVerb(verbOf(request)), ...aboutOf(request, definitionOf(request)), String(code)]).add(),
  }
}
