/** Routes to the pods of the other nodes of a cluster, for nodes on a common link. */
import { readFileSync, rmSync } from 'node:fs'
import { Connection, type ServerAccess } from '../../../client/connection/connection.ts'
import { SharedInformers } from '../../../client/informers/shared-informers.ts'
import { type Node, nodes } from '../../../client/kinds.ts'
import { RestClient } from '../../../client/rest/rest-client.ts'
import { rangeHas } from '../../../lib/cidr.ts'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { systemCalls } from '../../../lib/linux/system-calls.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { type HostNetwork, withHostNetwork } from '../../../network/netlink/host-network.ts'

export interface PeerRoutesOptions {
  readonly server: ServerAccess
  /** The name of this node; undefined for a machine that is none. */
  readonly node: string | undefined
  /** A file with the routes that were added. */
  readonly record: string
  readonly log: (line: string) => void
}

/** A way to the pods of a node. */
export interface PeerRoute {
  /** The range of pods: `10.244.1.0/24`. */
  readonly destination: string
  /** The address of the node. */
  readonly gateway: string
}

export class PeerRoutes {
  readonly #options: PeerRoutesOptions
  readonly #connection: Connection
  readonly #informers: SharedInformers
  readonly #nodes = new Map<string, Node>()
  #known: readonly PeerRoute[]
  /** Nodes that were reported as not reachable. */
  #reported: ReadonlySet<string> = new Set()

  constructor(options: PeerRoutesOptions) {
    this.#options = options
    this.#connection = new Connection({ ...options.server, userAgent: 't8s-peer-routes' })
    this.#informers = new SharedInformers(new RestClient(this.#connection), options.log)
    this.#known = readRecord(options.record)
  }

  /** Follows the nodes. */
  start(): void {
    this.#informers.of(nodes).onChange((node, old) => {
      const name = (node ?? old)?.metadata.name ?? ''
      if (node) this.#nodes.set(name, node)
      else this.#nodes.delete(name)
      if (node && old && routeText(node) === routeText(old)) return
      this.#request()
    })
    void this.#informers.synced(nodes).then(() => this.#request())
  }

  /** Removes the routes. */
  async stop(): Promise<void> {
    await this.#informers.stop()
    this.#connection.close()
    this.#nodes.clear()
    this.#sync()
    rmSync(this.#options.record, { force: true })
  }

  #request(): void {
    if (!this.#connection.closed.aborted) this.#sync()
  }

  #sync(): void {
    const { node: own, record, log } = this.#options
    const wanted = [...this.#nodes].flatMap(([name, node]) => (name === own ? [] : peerRoutesOf(node)))
    try {
      writeFileAtomically(record, JSON.stringify(wanted), 0o600)
      withHostNetwork(systemCalls(), undefined, (network) => {
        removeRoutes(
          network,
          this.#known.filter((known) => !wanted.some((one) => isSame(one, known))),
        )
        this.#report(wanted.filter((route) => !addRoute(network, route)))
      })
      this.#known = wanted
    } catch (error) {
      log(`routes to the pods of other nodes cannot be changed: ${messageOf(error)}`)
    }
  }

  /** A node behind a router is logged once. */
  #report(unreachable: readonly PeerRoute[]): void {
    for (const { destination, gateway } of unreachable)
      if (!this.#reported.has(gateway))
        this.#options.log(
          `pods in ${destination} cannot be reached: their node ${gateway} is on no network of this machine`,
        )
    this.#reported = new Set(unreachable.map(({ gateway }) => gateway))
  }
}

/** The routes to the pods of a node, one for each family. */
export function peerRoutesOf({ spec, status }: Node): readonly PeerRoute[] {
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address)
  const ranges = spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : [])
  return ranges.flatMap((destination) => {
    const gateway = addresses.find((address) => address.includes(':') === destination.includes(':'))
    return gateway === undefined ? [] : [{ destination, gateway }]
  })
}

const routeText = (node: Node): string => JSON.stringify(peerRoutesOf(node))

const isSame = (one: PeerRoute, other: PeerRoute): boolean =>
  one.destination === other.destination && one.gateway === other.gateway

/** Returns false if the gateway is on no link of this machine. */
function addRoute({ routes, links, addresses }: HostNetwork, { destination, gateway }: PeerRoute): boolean {
  const present = addresses.list()
  // The node is this machine itself.
  if (present.some(({ address }) => address.split('/')[0] === gateway)) return true
  const link = present.find(({ address }) => !isHostAddress(address) && rangeHas(address, gateway))?.link
  const device = links.list().find(({ index }) => index === link)
  if (!device) return false
  const same = routes.list().filter((route) => route.destination === destination)
  if (same.some((route) => route.gateway === gateway && route.link === device.index)) return true
  for (const route of same) if (route.gateway !== undefined) routes.remove(device, route)
  routes.add(device, { destination, gateway, link: device.index })
  return true
}

/** Removes the routes that a process has left. */
export function removeRecordedRoutes(record: string): void {
  withHostNetwork(systemCalls(), undefined, (network) => removeRoutes(network, readRecord(record)))
  rmSync(record, { force: true })
}

const isHostAddress = (address: string): boolean => /\/(?:32|128)$/.test(address)

function removeRoutes({ routes, links }: HostNetwork, known: readonly PeerRoute[]): void {
  if (known.length === 0) return
  const all = links.list()
  for (const route of routes.list()) {
    const device = all.find(({ index }) => index === route.link)
    if (device && known.some((one) => one.destination === route.destination && one.gateway === route.gateway))
      routes.remove(device, route)
  }
}

function readRecord(file: string): readonly PeerRoute[] {
  try {
    const read: readonly PeerRoute[] = JSON.parse(readFileSync(file, 'utf8'))
    return read
  } catch {
    return []
  }
}
