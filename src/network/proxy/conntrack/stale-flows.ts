/**
 * Removes UDP flows that the kernel would go on sending to the wrong place: UDP has no end, so a client that sends
 * without pause would never reach another endpoint. TCP is left alone. As kube-proxy 1.32 and later; in addition, flows
 * of Services that were deleted or have no endpoints any more.
 */
import type { Connection } from '../../netlink/connections.ts'
import type { ChangedServices } from '../modes/proxy-mode.ts'
import type { ProxiedPort, ServicePicture } from '../picture/service-picture.ts'

/** A UDP port of a Service: where clients send, and the endpoints that flows may keep. */
interface UdpPort {
  /** `ADDRESS PORT` of the cluster IP, external IPs and load balancers. */
  readonly frontends: readonly string[]
  /** 0: none. */
  readonly nodePort: number
  /**
   * Addresses of all endpoints that serve, whatever traffic policies and hints say: a flow stays where it is, as a TCP
   * connection does.
   */
  readonly endpoints: ReadonlySet<string>
}

export interface StaleFlowsOptions {
  /** Removes the flows that `isStale` accepts; returns their number. */
  readonly remove: (isStale: (flow: Connection) => boolean) => number
  /** The current addresses of this machine: those of node ports. */
  readonly hostAddresses: () => readonly string[]
}

export class StaleFlows {
  readonly #options: StaleFlowsOptions
  /** UDP ports by Service, as of the last call. */
  readonly #known = new Map<string, readonly UdpPort[]>()

  constructor(options: StaleFlowsOptions) {
    this.#options = options
  }

  /** Removes stale flows of the changed Services, after a sync. Returns the number; undefined without a search. */
  clean(picture: ServicePicture, changed: ChangedServices): number | undefined {
    const keys = changed === 'all' ? new Set([...picture.keys(), ...this.#known.keys()]) : changed
    const current: UdpPort[] = []
    const former: UdpPort[] = []
    for (const key of keys) {
      const ports = (picture.get(key) ?? []).filter(({ protocol }) => protocol === 'UDP').map(udpPort)
      current.push(...ports)
      former.push(...(this.#known.get(key) ?? []))
      if (ports.length > 0) this.#known.set(key, ports)
      else this.#known.delete(key)
    }
    if (current.length === 0 && former.length === 0) return undefined
    return this.#options.remove(staleFlow(current, former, new Set(this.#options.hostAddresses())))
  }
}

function udpPort({ clusterIP, externalIPs, loadBalancerIPs, port, nodePort, endpoints }: ProxiedPort): UdpPort {
  const serving = endpoints.all.filter(({ isServing }) => isServing)
  return {
    frontends: [clusterIP, ...externalIPs, ...loadBalancerIPs].map((address) => `${address} ${port}`),
    nodePort,
    endpoints: new Set(serving.map(({ address }) => address)),
  }
}

function staleFlow(
  current: readonly UdpPort[],
  former: readonly UdpPort[],
  hostAddresses: ReadonlySet<string>,
): (flow: Connection) => boolean {
  const [now, before] = [endpointsByFrontend(current), endpointsByFrontend(former)]
  return ({ original: { destination, destinationPort }, reply: { source } }) => {
    const endpointsIn = (index: typeof now): ReadonlySet<string> | undefined =>
      index.get(`${destination} ${destinationPort}`) ??
      (hostAddresses.has(destination) ? index.get(String(destinationPort)) : undefined)
    const allowed = endpointsIn(now)
    if (allowed) return !allowed.has(source)
    // The Service or its port was deleted: only flows that it made.
    return source !== destination && (endpointsIn(before)?.has(source) ?? false)
  }
}

function endpointsByFrontend(ports: readonly UdpPort[]): Map<string, ReadonlySet<string>> {
  const index = new Map<string, ReadonlySet<string>>()
  for (const { frontends, nodePort, endpoints } of ports) {
    for (const frontend of frontends) index.set(frontend, endpoints)
    if (nodePort !== 0) index.set(String(nodePort), endpoints)
  }
  return index
}
