/** The deprecated APIs that clients have requested, as a metric under upstream's name. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { Request } from '../../http/exchange.ts'
import { definitionOf, type FindResource, targetLabels, targetOf } from './request-labels.ts'

/** A target's labels without its scope and component. */
const apiLabels = 4

export class DeprecatedApis {
  readonly #find: FindResource
  readonly #requested = new Map<string, readonly string[]>()

  constructor(metrics: MetricsRegistry, find: FindResource) {
    this.#find = find
    metrics.gauge(
      'apiserver_requested_deprecated_apis',
      'Deprecated APIs that have been requested.',
      [...targetLabels.slice(0, apiLabels), 'removed_release'],
      () => [...this.#requested.values()].map((target) => [target, 1]),
    )
  }

  /** Records a request for a deprecated API. */
  requested(request: Request): void {
    const target = targetOf(request, definitionOf(request, this.#find)).slice(0, apiLabels)
    if (target[2]) this.#requested.set(target.join(' '), [...target, ''])
  }
}
