/** Keeps routes of the kernel equal to those that a backend wants, without touching routes of others. */
import type { HostNetwork } from '../../../netlink/host-network.ts'
import type { Route } from '../../../netlink/routes.ts'
import { Attempts } from '../attempts.ts'

/** A route that a backend wants, and the name of its interface. */
export interface WantedRoute extends Route {
  readonly device: string
}

/**
 * Adds and replaces routes that are missing or different, and removes routes that `isOwned` accepts and nobody wants.
 * Routes that are right are not touched. Returns what was done, in words.
 * @throws an Error with the reason of each route that failed; the others are in effect.
 */
export function syncRoutes(
  { routes, links }: Pick<HostNetwork, 'routes' | 'links'>,
  wanted: readonly WantedRoute[],
  isOwned: (route: Route) => boolean,
): string[] {
  const attempts = new Attempts()
  const present = routes.list()
  const byDestination = Map.groupBy(present, ({ destination }) => destination)
  for (const route of wanted) {
    const found = byDestination.get(route.destination) ?? []
    if (found.some((one) => isSame(one, route))) continue
    attempts.make(`route to ${route.destination} ${wayOf(route)}`, () => routes.replace({ name: route.device }, route))
  }
  // A destination with two routes keeps the wanted one only.
  const wantedDestinations = new Map(wanted.map((route) => [route.destination, route]))
  const names = new Map(links.list().map(({ index, name }) => [index, name]))
  for (const route of routes.list()) {
    const target = wantedDestinations.get(route.destination)
    if (!isOwned(route) || (target && isSame(route, target))) continue
    const name = names.get(route.link) ?? `interface ${route.link}`
    attempts.make(`no route to ${route.destination} ${wayOf({ ...route, device: name })}`, () =>
      routes.remove({ name }, route),
    )
  }
  return attempts.finish()
}

const isSame = (one: Route, other: Route): boolean =>
  one.destination === other.destination && one.gateway === other.gateway && one.link === other.link

const wayOf = ({ gateway, device }: WantedRoute): string =>
  `${gateway === undefined ? '' : `via ${gateway} `}dev ${device}`
