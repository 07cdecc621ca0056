/** How other machines join and leave the cluster. Nothing of it is loaded for other clusters. */
import { advertiseAddress } from '../../apiserver/services/own-service/advertise-address.ts'
import { parseCidr } from '../../lib/cidr.ts'
import { isLoopbackHost } from '../../lib/loopback-host.ts'
import { localUrl } from '../addresses/addresses.ts'
import { type NetworkPlan, reachableRanges, routeBackend, tunnelBackend } from '../flannel/net-conf.ts'
import type { JoiningObjects } from '../joining/joining-objects.ts'
import { nodeIps } from '../real-node/settings/node-ips.ts'
import { type ClusterParts, component } from './component.ts'

/**
 * True if other machines can join. Those of clusters in memory and of loopback cannot: such clusters have exactly
 * upstream's first objects.
 */
export const isJoinable = ({ data, addresses }: Pick<ClusterParts, 'data' | 'addresses'>): boolean =>
  data !== undefined && !isLoopbackHost(addresses.bindAddress)

/** The network of the pods in these ranges. Undefined for clusters with one node, and without ranges. */
export function podNetwork(
  parts: Pick<ClusterParts, 'data' | 'addresses' | 'nodeDecision' | 'options'>,
  ranges: readonly string[],
): NetworkPlan | undefined {
  const { nodes } = parts.options
  const real = typeof nodes === 'object' ? nodes.real : undefined
  const backend = typeof real === 'object' ? real.networkBackend : undefined
  const { nodeDecision, addresses } = parts
  const hasMachines = nodeDecision?.type === 'machines'
  const own = nodeDecision?.type === 'real' ? nodeIps(nodeDecision.node, addresses.serviceRanges) : undefined
  const reachable = own ? reachableRanges(ranges, own) : ranges
  if (reachable.length === 0 || !(hasMachines || isJoinable(parts))) return undefined
  return { backend, usual: hasMachines ? routeBackend : tunnelBackend, ranges: reachable }
}

export const joining = component({
  name: 'joining',
  needs: [
    'options',
    'nodeDecision',
    'data',
    'addresses',
    'flagged',
    'plan',
    'pki',
    'endpoint',
    'server',
    'administrator',
    'clients',
    'synced',
    'log',
  ],
  gives: [],
  start(parts) {
    const { clients, synced, log } = parts
    if (!isJoinable(parts)) return {}
    let isStopped = false
    let stop = async (): Promise<void> => {}
    clients.onEnd(() => {
      isStopped = true
      return stop()
    })
    // Nodes, controllers and scheduler start first.
    void synced.then(async () => {
      if (isStopped) return
      const [{ writeJoiningObjects }, { deleteLeavingNodes }] = await Promise.all([
        import('../joining/joining-objects.ts'),
        import('../joining/leaving-nodes.ts'),
      ])
      if (isStopped) return
      stop = deleteLeavingNodes(parts.administrator.client, log)
      await writeJoiningObjects(parts.administrator.client, await objectsOf(parts), log)
    })
    return {}
  },
})

type ObjectsParts =
  | 'options'
  | 'nodeDecision'
  | 'data'
  | 'addresses'
  | 'flagged'
  | 'plan'
  | 'pki'
  | 'endpoint'
  | 'server'

async function objectsOf(parts: Pick<ClusterParts, ObjectsParts>): Promise<JoiningObjects> {
  const { flagged, plan, pki, endpoint, server } = parts
  const { bindAddress, serviceRanges } = parts.addresses
  const podRanges = plan.flags['cluster-cidr'] ?? ''
  const { dnsAddress } = await import('../dns/cluster-dns.ts')
  return {
    url: localUrl(publicAddress(bindAddress, flagged.advertiseAddress), server.port),
    // The authority of the server's clients is another one if users have brought its certificate.
    ca: [...new Set([endpoint.ca, pki.authority.cert])].join('\n'),
    podRanges,
    network: podNetwork(parts, podRanges === '' ? [] : podRanges.split(',')),
    serviceRanges,
    dns: serviceRanges.split(',').flatMap((range) => dnsAddress(range.trim()) ?? [])[0],
    domain: 'cluster.local',
  }
}

/** The address for other machines; that of loopback if the server listens there alone. */
function publicAddress(bindAddress: string, advertised: string | undefined): string {
  const isEverywhere = bindAddress === '0.0.0.0' || bindAddress === '::'
  if (!isEverywhere) return bindAddress
  const family = parseCidr(`${bindAddress}/0`)?.family === 6 ? 'IPv6' : 'IPv4'
  return advertised ?? advertiseAddress(bindAddress, family) ?? bindAddress
}
