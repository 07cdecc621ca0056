/** The objects of a Service in the table: chains, sets of clients with affinity, and elements of common sets. */
import { parseCidr } from '../../../../lib/cidr.ts'
import {
  isChosen,
  remember,
  setMark,
  translateTo,
  translateToRandom,
  verdict,
  verdictOfRandom,
} from '../../../netlink/nftables/actions.ts'
import type { Rule } from '../../../netlink/nftables/commands.ts'
import { addressSelector, type Expression } from '../../../netlink/nftables/expression.ts'
import { hasProtocol, isInSet, isLocalAddress } from '../../../netlink/nftables/matches.ts'
import { drop, goTo } from '../../../netlink/nftables/values.ts'
import type { Endpoint } from '../../picture/endpoint.ts'
import type { ProxiedPort } from '../../picture/service-picture.ts'
import type { ModeOptions } from '../mode-options.ts'
import { affinityPrefix, endpointName, protocolName } from './names.ts'
import { hasExternalEndpoints, type PortChains, portChains, usesExternalChain, usesFirewall } from './port-chains.ts'
import { portElements, type SetElement } from './port-elements.ts'
import { isInRanges, isLocalTraffic, masqueradeMark, type TableSets } from './table-layout.ts'

export interface ServiceObjects {
  readonly chains: ReadonlyMap<string, readonly Rule[]>
  /** Sets of the clients that stay with an endpoint: seconds by name. */
  readonly affinitySets: ReadonlyMap<string, number>
  readonly elements: readonly SetElement[]
}

/** The objects of all ports of a Service. */
export function serviceObjects(ports: readonly ProxiedPort[], sets: TableSets, options: ModeOptions): ServiceObjects {
  const chains = new Map<string, readonly Rule[]>()
  const affinitySets = new Map<string, number>()
  const elements: SetElement[] = []
  for (const port of ports) {
    const names = portChains(port)
    const { cluster, local, reachable } = port.endpoints
    if (cluster.length > 0) chains.set(names.cluster, balancingRules(port, cluster, options))
    if (local.length > 0) chains.set(names.local, balancingRules(port, local, options))
    if (usesFirewall(port)) chains.set(names.firewall, firewallRules(port, options))
    if (usesExternalChain(port)) chains.set(names.external, externalRules(port, names, options))
    if (port.affinitySeconds !== undefined)
      for (const endpoint of reachable) {
        chains.set(endpointChain(port, endpoint), endpointRules(port, endpoint, options))
        affinitySets.set(affinitySet(port, endpoint), port.affinitySeconds)
      }
    elements.push(...portElements(port, names, sets))
  }
  return { chains, affinitySets, elements }
}

const endpointChain = (port: ProxiedPort, endpoint: Endpoint): string => `endpoint-${endpointName(port, endpoint)}`

const affinitySet = (port: ProxiedPort, endpoint: Endpoint): string =>
  `${affinityPrefix}${endpointName(port, endpoint)}`

/**
 * The most endpoints that a port chooses by rules, and not by a map of its own. The kernel finds sets by going through
 * all sets of the table: 10,000 maps take it 18 s to load, as many rules 0.3 s.
 */
const mostRules = 16

/** Only ports with affinity have chains of their endpoints, which remember the client. */
function balancingRules(port: ProxiedPort, endpoints: readonly Endpoint[], { family }: ModeOptions): Rule[] {
  const count = endpoints.length
  // Of the endpoints that are left, each has the same chance.
  const chance = (i: number): readonly Expression[] => (i < count - 1 ? [isChosen(count - i)] : [])
  if (port.affinitySeconds === undefined) {
    const protocol = hasProtocol(protocolName(port))
    if (count > mostRules) return [{ expressions: [protocol, translateToRandom(family, endpoints)] }]
    return endpoints.map((endpoint, i) => ({ expressions: [...chance(i), protocol, translateTo(family, endpoint)] }))
  }
  const verdicts = endpoints.map((endpoint) => goTo(endpointChain(port, endpoint)))
  const known = endpoints.map((endpoint, i) => ({
    expressions: [isInSet([addressSelector(family, 'saddr')], affinitySet(port, endpoint)), verdict(verdicts[i]!)],
  }))
  if (count > mostRules) return [...known, { expressions: [verdictOfRandom(verdicts)] }]
  return [...known, ...verdicts.map((value, i) => ({ expressions: [...chance(i), verdict(value)] }))]
}

const endpointRules = (port: ProxiedPort, endpoint: Endpoint, { family }: ModeOptions): Rule[] => [
  { expressions: [remember(addressSelector(family, 'saddr'), affinitySet(port, endpoint))] },
  { expressions: [hasProtocol(protocolName(port)), translateTo(family, endpoint)] },
]

function firewallRules(port: ProxiedPort, { family, nodeAddress }: ModeOptions): Rule[] {
  const ranges = port.loadBalancerSourceRanges
  const bits = family === 4 ? 32 : 128
  // The node reaches an address of a load balancer that it has itself with that address as the source.
  const own = contains(ranges, `${nodeAddress}/${bits}`) ? port.loadBalancerIPs.map((ip) => `${ip}/${bits}`) : []
  return [{ expressions: [isInRanges(family, 'saddr', [...ranges, ...own], true), verdict(drop)] }]
}

/** False for a text that is no range. */
function contains(ranges: readonly string[], text: string): boolean {
  const range = parseCidr(text)
  if (!range) return false
  return ranges.some((outer) => {
    const address = text.slice(0, text.indexOf('/'))
    const [, bits = ''] = outer.split('/')
    const enclosing = parseCidr(`${address}/${bits}`)
    const known = parseCidr(outer)
    return known?.family === range.family && enclosing?.base === known.base
  })
}

function externalRules(port: ProxiedPort, names: PortChains, options: ModeOptions): Rule[] {
  const toCluster = verdict(goTo(names.cluster))
  const mark = setMark(masqueradeMark(options))
  const hasCluster = port.endpoints.cluster.length > 0
  // The endpoint may be on another node, and its answer must come back through this one.
  if (!port.isExternalLocal) return [{ expressions: [mark] }, ...(hasCluster ? [{ expressions: [toCluster] }] : [])]
  const isLocal = isLocalTraffic(options, false)
  const rules: Rule[] = []
  // Pods and the node itself do as if the connection came back from the load balancer.
  if (hasCluster && isLocal) rules.push({ expressions: [isLocal, toCluster], comment: 'short-circuit pod traffic' })
  if (hasCluster)
    rules.push(
      { expressions: [isLocalAddress('saddr'), mark], comment: 'masquerade local traffic' },
      { expressions: [isLocalAddress('saddr'), toCluster], comment: 'short-circuit local traffic' },
    )
  if (hasExternalEndpoints(port)) rules.push({ expressions: [verdict(goTo(names.local))] })
  return rules
}
