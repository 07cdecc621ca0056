/** Distributes requests: among the backends of a route by weight, and among the endpoints of a backend in turn. */
import type { EndpointAddress, Target } from '../../picture/backends.ts'
import type { RouteAction, WeightedBackend } from '../../picture/route.ts'

export class Balancer {
  /** How much of its share each backend of a route has not had yet. */
  readonly #shares = new WeakMap<RouteAction, number[]>()
  readonly #next = new WeakMap<Target, number>()

  /**
   * Returns the backend of the next request; undefined if no backend has a weight. The order is that of nginx (smooth
   * weighted round-robin): requests for a small weight are spread evenly.
   */
  chooseBackend(action: RouteAction): WeightedBackend | undefined {
    const { backends } = action
    if (backends.length === 1) return backends[0]!.weight > 0 ? backends[0] : undefined
    const shares = this.#shares.get(action) ?? backends.map(() => 0)
    this.#shares.set(action, shares)
    let best = -1
    let total = 0
    for (const [at, { weight }] of backends.entries()) {
      if (weight <= 0) continue
      total += weight
      shares[at]! += weight
      if (best < 0 || shares[at]! > shares[best]!) best = at
    }
    if (best < 0) return undefined
    shares[best]! -= total
    return backends[best]
  }

  /** Returns the endpoints in the order to try: each request begins with another one. */
  endpointsOf(target: Target): EndpointAddress[] {
    const { endpoints } = target
    const first = (this.#next.get(target) ?? 0) % endpoints.length
    this.#next.set(target, first + 1)
    return [...endpoints.slice(first), ...endpoints.slice(0, first)]
  }
}
