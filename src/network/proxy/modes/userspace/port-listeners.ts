/** The listeners of a port of a Service. */
import { rangeHas } from '../../../../lib/cidr.ts'
import type { Listener, Target } from '../../../forwarder/listener.ts'
import type { ProxiedPort } from '../../picture/service-picture.ts'
import { portText } from '../../picture/service-port.ts'

/** The parts of the machine that listeners depend on. */
export interface ListenerPlace {
  /** An address of the node, for example for source ranges. */
  readonly nodeAddress: string
  /** Addresses that serve node ports. */
  readonly nodePortAddresses: readonly string[]
  /** Ranges of clients that are pods of this node, or the node itself. */
  readonly insideRanges: readonly string[]
  /** True if an interface of this machine has the address. */
  readonly isOwn: (address: string) => boolean
}

/** No client: the kernel drops all packets. */
const nobody: readonly (readonly string[])[] = [[]]

/**
 * Returns none for a Service without endpoints, so that the kernel refuses connections; and for SCTP, which user space
 * cannot forward. Without endpoints for the policy `Local`, packets are dropped, as other nodes may have some.
 */
export function portListeners(port: ProxiedPort, place: ListenerPlace): Listener[] {
  const { protocol, endpoints, isInternalLocal, affinitySeconds } = port
  if (protocol === 'SCTP' || !endpoints.hasAny) return []
  const shared = {
    protocol,
    group: `${portText(port)} ${protocol}`,
    ...(affinitySeconds !== undefined && { affinityMs: affinitySeconds * 1000 }),
  }
  const at = (address: string, number: number, served: Served): Listener => ({
    ...shared,
    address,
    port: number,
    ...(!place.isOwn(address) && { hasRoute: true }),
    ...served,
  })
  const listeners = [at(port.clusterIP, port.port, servedBy(isInternalLocal ? endpoints.local : endpoints.cluster))]
  for (const address of port.externalIPs) listeners.push(at(address, port.port, external(port, place, address)))
  for (const address of port.loadBalancerIPs) {
    const served = external(port, place, address)
    const ranges = sourceRanges(port, place, address)
    listeners.push(
      at(address, port.port, ranges ? { ...served, allowed: [...(served.allowed ?? []), ranges] } : served),
    )
  }
  if (port.nodePort !== 0)
    for (const address of place.nodePortAddresses)
      listeners.push(at(address, port.nodePort, external(port, place, address)))
  return listeners
}

type Served = Pick<Listener, 'targets' | 'inside' | 'allowed'>

function servedBy(targets: readonly Target[]): Served {
  const plain = targets.map(({ address, port }) => ({ address, port }))
  return plain.length > 0 ? { targets: plain } : { targets: plain, allowed: nobody }
}

/** Pods and the node itself do as if the connection came back from the load balancer: they use all endpoints. */
function external({ endpoints, isExternalLocal }: ProxiedPort, place: ListenerPlace, address: string): Served {
  const cluster = servedBy(endpoints.cluster)
  if (!isExternalLocal || cluster.allowed) return isExternalLocal ? servedBy(endpoints.local) : cluster
  // This machine may connect from the address that it connects to.
  const ranges = [...place.insideRanges, hostRange(address)]
  if (endpoints.local.length === 0) return { ...cluster, allowed: [ranges] }
  return { ...servedBy(endpoints.local), inside: { ranges, targets: cluster.targets } }
}

/** Source ranges hold for addresses of load balancers only. If the node is in them, so are its other addresses. */
function sourceRanges({ loadBalancerSourceRanges: ranges }: ProxiedPort, { nodeAddress }: ListenerPlace, ip: string) {
  if (ranges.length === 0) return undefined
  const hasNode = ranges.some((range) => rangeHas(range, nodeAddress))
  return hasNode ? [...ranges, hostRange(ip), loopbackRange(ip)] : ranges
}

const hostRange = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`
const loopbackRange = (address: string): string => (address.includes(':') ? '::1/128' : '127.0.0.0/8')
