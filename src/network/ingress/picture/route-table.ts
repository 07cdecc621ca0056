/** The routes of a port, by host. */
import { anyHost, patternsFor } from './hosts.ts'
import { compareRoutes, matchesRequest, type Route, type RoutedRequest } from './route.ts'

/**
 * Finds the route of a request. The most specific host that has routes decides: if none of its paths matches, routes of
 * less specific hosts are not used, except for the default backend.
 * @example
 * const table = new RouteTable(routes, undefined)
 * table.find({ host: 'example.com', path: '/', method: 'GET', header, parameter })?.action
 */
export class RouteTable {
  readonly #routes = new Map<string, Route[]>()
  readonly #fallback: Route | undefined

  /** `fallback` gets requests without a route. `hosts` decide even if they have no routes. */
  constructor(routes: Iterable<Route>, fallback: Route | undefined, hosts: Iterable<string> = []) {
    this.#fallback = fallback
    for (const host of hosts) if (host !== anyHost) this.#routes.set(host, [])
    for (const route of routes) {
      const known = this.#routes.get(route.host)
      if (known) known.push(route)
      else this.#routes.set(route.host, [route])
    }
    // The sort is stable: rules of one object stay in their order.
    for (const ofHost of this.#routes.values()) ofHost.sort(compareRoutes)
  }

  find(request: RoutedRequest): Route | undefined {
    for (const patterns of patternsFor(request.host)) {
      if (!patterns.some((pattern) => this.#routes.has(pattern))) continue
      const known = patterns.flatMap((pattern) => this.#routes.get(pattern) ?? [])
      return known.find(({ match }) => matchesRequest(match, request)) ?? this.#fallback
    }
    return this.#fallback
  }
}
