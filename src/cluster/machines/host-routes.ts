/** Routes of the host to the pods of its machines: the API server reaches webhooks and proxied Services. */
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { SharedInformers } from '../../client/informers/shared-informers.ts'
import { type Node, nodes } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { rangeHas } from '../../lib/cidr.ts'
import { systemCalls } from '../../lib/linux/system-calls.ts'
import { messageOf } from '../../lib/message-of.ts'
import { syncRoutes } from '../../network/flannel/backends/routes/peer-routes.ts'
import { withHostNetwork } from '../../network/netlink/host-network.ts'

export interface HostRoutesOptions {
  readonly server: ServerAccess
  /** The bridge of the machines, with whose removal the kernel removes the routes. */
  readonly bridge: string
  /** The networks of the machines. */
  readonly lans: readonly string[]
  readonly log: (line: string) => void
}

/** Follows the nodes until the returned function is called. */
export function keepHostRoutes({ server, bridge, lans, log }: HostRoutesOptions): () => Promise<void> {
  const connection = new Connection({ ...server, userAgent: 't8s-host-routes' })
  const informers = new SharedInformers(new RestClient(connection), log)
  const ways = new Map<string, readonly Way[]>()
  let isComplete = false
  const sync = (): void => {
    try {
      writeRoutes(bridge, [...ways.values()].flat())
    } catch (error) {
      log(`routes of this host to the pods of machines cannot be changed: ${messageOf(error)}`)
    }
  }
  informers.of(nodes).onChange((node, old) => {
    const name = (node ?? old)?.metadata.name ?? ''
    const wanted = node ? waysTo(node, lans) : []
    const isSame = JSON.stringify(ways.get(name) ?? []) === JSON.stringify(wanted)
    ways.set(name, wanted)
    if (isComplete && !isSame) sync()
  })
  void informers.synced(nodes).then(() => {
    isComplete = true
    sync()
  })
  return async () => {
    isComplete = false
    await informers.stop()
    connection.close()
  }
}

interface Way {
  readonly destination: string
  readonly gateway: string
}

/** The ways to the pods of a machine, one for each family; none for other nodes. */
function waysTo({ spec, status }: Node, lans: readonly string[]): readonly Way[] {
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address)
  const ranges = spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : [])
  return ranges.flatMap((destination) => {
    const gateway = addresses.find(
      (address) => address.includes(':') === destination.includes(':') && lans.some((lan) => rangeHas(lan, address)),
    )
    return gateway === undefined ? [] : [{ destination, gateway }]
  })
}

function writeRoutes(bridge: string, ways: readonly Way[]): void {
  withHostNetwork(systemCalls(), undefined, (host) => {
    const link = host.links.list().find(({ name }) => name === bridge)?.index
    if (link === undefined) return
    const wanted = ways.map((way) => ({ ...way, link, device: bridge }))
    syncRoutes(host, wanted, (route) => route.link === link && route.gateway !== undefined)
  })
}
