/** A route to the network of all nodes by one device. */
import type { HostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'

/** Adds or replaces the route, if it is not there. This node's own pods have a longer one. */
export function routeNetwork(
  { routes }: Pick<HostNetwork, 'routes'>,
  { index: link, name }: Pick<Link, 'index' | 'name'>,
  destination: string,
): void {
  const present = routes.list().filter((route) => route.destination === destination)
  if (!present.some((route) => route.link === link && route.gateway === undefined))
    routes.replace({ name }, { destination, link })
}
