/** The elements that a port of a Service has in the common sets of the table. */
import type { Element, TableSet } from '../../../netlink/nftables/commands.ts'
import { drop, goTo, type Verdict } from '../../../netlink/nftables/values.ts'
import type { ProxiedPort } from '../../picture/service-picture.ts'
import { portText } from '../../picture/service-port.ts'
import { protocolName } from './names.ts'
import { hasExternalEndpoints, internalChain, type PortChains, usesExternalChain, usesFirewall } from './port-chains.ts'
import { chainNames, type TableSets } from './table-layout.ts'

/** An element, and the set that it is for. One object for both: clusters have tens of thousands. */
export interface SetElement extends Element {
  readonly set: TableSet
}

/** `nft` refuses longer comments, with their final zero. */
const longestComment = 127

export function portElements(port: ProxiedPort, names: PortChains, sets: TableSets): SetElement[] {
  const comment = portText(port).slice(0, longestComment)
  const protocol = protocolName(port)
  const keyOf = (address: string): string => `${address} . ${protocol} . ${port.port}`
  const found: SetElement[] = []
  const add = (set: TableSet, key: string, verdict?: Verdict, text?: string): void => {
    found.push({ set, key, ...(verdict && { verdict }), ...(text !== undefined && { comment: text }) })
  }
  // No endpoint on any node: clients learn it immediately. None for the policy Local: other nodes may have some.
  const refusal = port.endpoints.hasAny ? drop : goTo(chainNames.reject)
  const external = usesExternalChain(port) ? goTo(names.external) : undefined
  const isRefusedExternally = !hasExternalEndpoints(port)

  add(sets.clusterIPs, port.clusterIP)
  const internal = internalChain(port, names)
  if (internal !== undefined) add(sets.serviceIPs, keyOf(port.clusterIP), goTo(internal))
  else add(sets.noEndpointServices, keyOf(port.clusterIP), refusal, comment)
  for (const address of [...port.externalIPs, ...port.loadBalancerIPs]) {
    if (external) add(sets.serviceIPs, keyOf(address), external)
    if (isRefusedExternally) add(sets.noEndpointServices, keyOf(address), refusal, comment)
  }
  if (usesFirewall(port))
    for (const address of port.loadBalancerIPs) add(sets.firewallIPs, keyOf(address), goTo(names.firewall), comment)
  if (port.nodePort !== 0) {
    const key = `${protocol} . ${port.nodePort}`
    if (external) add(sets.serviceNodePorts, key, external)
    if (isRefusedExternally) add(sets.noEndpointNodePorts, key, refusal, comment)
  }
  for (const { address, port: number } of port.endpoints.reachable)
    add(sets.hairpinConnections, `${address} . ${address} . ${protocol} . ${number}`)
  return found
}
