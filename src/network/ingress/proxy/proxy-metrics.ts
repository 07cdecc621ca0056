/** Metrics of the proxy, in Prometheus' format. */
import {
  type CounterSeries,
  type HistogramSeries,
  MetricsRegistry,
  type SeriesOf,
} from '../../../lib/metrics/registry.ts'

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class ProxyMetrics {
  readonly #registry = new MetricsRegistry()
  readonly #requests: SeriesOf<CounterSeries>
  readonly #durations: SeriesOf<HistogramSeries>
  readonly #retries: SeriesOf<CounterSeries>
  /** Requests and upgraded connections in progress. */
  active = 0

  constructor() {
    this.#requests = this.#registry.counter(
      't8s_ingress_requests_total',
      'Requests by the object whose rule they matched, and the status of the response.',
      ['route', 'code'],
    )
    this.#durations = this.#registry.histogram(
      't8s_ingress_request_duration_seconds',
      'Time from the head of a request to the end of its response.',
      durationBuckets,
      ['route'],
    )
    this.#retries = this.#registry.counter(
      't8s_ingress_endpoint_connect_failures_total',
      'Endpoints to which no connection could be opened, by route.',
      ['route'],
    )
    this.#registry.gauge('t8s_ingress_active_requests', 'Requests and tunnels in progress.', [], () => [
      [[], this.active],
    ])
  }

  /** Counts a response. `route` is empty if no rule matched; status 0: the client has left before the response. */
  observe(route: string, status: number, seconds: number): void {
    this.#requests([route, String(status)]).add()
    this.#durations([route]).observe(seconds)
  }

  countConnectFailure(route: string): void {
    this.#retries([route]).add()
  }

  render(): string {
    return this.#registry.render()
  }
}
