/** The rules that select an endpoint of a port, and those that send a connection to it. */
import { type Endpoint, endpointText } from '../../../picture/endpoint.ts'
import { portText, type ServicePort } from '../../../picture/service-port.ts'
import { endpointChain } from './chain-names.ts'
import { comment } from './rule-options.ts'

/** Rules of a chain that selects one of the endpoints, each with the same probability. Affinity comes first. */
export function selectionRules(port: ServicePort, endpoints: readonly Endpoint[], isLarge: boolean): string[] {
  const start = (endpoint: Endpoint): string =>
    isLarge ? '' : `${comment(`${portText(port)} -> ${endpointText(endpoint)}`)} `
  const chains = endpoints.map((endpoint) => endpointChain(port, endpoint))
  const affine = (endpoint: Endpoint, index: number): string =>
    `${start(endpoint)}-m recent --name ${chains[index]} --rcheck --seconds ${port.affinitySeconds} --reap` +
    ` -j ${chains[index]}`
  const random = (endpoint: Endpoint, index: number): string => {
    const rest = endpoints.length - index
    const match = rest > 1 ? `-m statistic --mode random --probability ${probability(rest)} ` : ''
    return `${start(endpoint)}${match}-j ${chains[index]}`
  }
  return [...(port.affinitySeconds === undefined ? [] : endpoints.map(affine)), ...endpoints.map(random)]
}

/** The chain of an endpoint, with its rules. */
export function endpointRules(port: ServicePort, endpoint: Endpoint, isLarge: boolean): [string, string[]][] {
  const name = endpointChain(port, endpoint)
  const protocol = port.protocol.toLowerCase()
  // Without quotes: names of ports have no blanks.
  const start = isLarge ? '' : `-m comment --comment ${portText(port)} `
  const affinity = port.affinitySeconds === undefined ? '' : `-m recent --name ${name} --set `
  return [
    [
      name,
      [
        // A connection of an endpoint to itself: the answer must come back through this node.
        `${start}-s ${endpoint.address} -j KUBE-MARK-MASQ`,
        `${start}${affinity}-m ${protocol} -p ${protocol} -j DNAT --to-destination ${endpointText(endpoint)}`,
      ],
    ],
  ]
}

/** 1/n with 10 decimal places. iptables-save prints 11 places. */
const probability = (n: number): string => (1 / n).toFixed(10)
