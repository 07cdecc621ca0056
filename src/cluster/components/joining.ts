/** How other machines join and leave the cluster. Nothing of it is loaded for other clusters. */
import { advertiseAddress } from '../../apiserver/services/own-service/advertise-address.ts'
import { parseCidr } from '../../lib/cidr.ts'
import { isLoopbackHost } from '../../lib/loopback-host.ts'
import { localUrl } from '../addresses.ts'
import { type ClusterParts, component } from './component.ts'

/**
 * True if other machines can join. Those of clusters in memory and of loopback cannot: such clusters have exactly
 * upstream's first objects.
 */
export const isJoinable = ({ data, addresses }: Pick<ClusterParts, 'data' | 'addresses'>): boolean =>
  data !== undefined && !isLoopbackHost(addresses.bindAddress)

/** True if the cluster's own nodes need the rights of joined ones: flannel runs in their processes, too. */
export function usesFlannel({ data, options: { nodes } }: Pick<ClusterParts, 'data' | 'options'>): boolean {
  const real = typeof nodes === 'object' ? nodes.real : undefined
  return data !== undefined && typeof real === 'object' && real.networkBackend !== undefined
}

export const joining = component({
  name: 'joining',
  needs: [
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

async function objectsOf({
  addresses: { bindAddress, serviceRanges },
  flagged,
  plan,
  pki,
  endpoint,
  server,
}: Pick<ClusterParts, 'addresses' | 'flagged' | 'plan' | 'pki' | 'endpoint' | 'server'>) {
  const { dnsAddress } = await import('../dns/cluster-dns.ts')
  return {
    url: localUrl(publicAddress(bindAddress, flagged.advertiseAddress), server.port),
    // The authority of the server's clients is another one if users have brought its certificate.
    ca: [...new Set([endpoint.ca, pki.authority.cert])].join('\n'),
    podRanges: plan.flags['cluster-cidr'] ?? '',
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
