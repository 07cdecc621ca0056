/** The rules of one port of a Service, in the order and with the comments of upstream's kube-proxy. */
import { isIP } from 'node:net'
import { rangeHas } from '../../../../../lib/cidr.ts'
import type { ProxiedPort } from '../../../picture/service-picture.ts'
import { isExternallyReachable, portText } from '../../../picture/service-port.ts'
import { type PortChains, portChains } from './chain-names.ts'
import { endpointRules, selectionRules } from './endpoint-rules.ts'
import { comment, ifLocal, ifNotLocal, type RuleOptions } from './rule-options.ts'

/** The lines of a port for `iptables-restore`, without `COMMIT`. */
export interface PortRules {
  /** Rules in chains that all ports share, by chain. */
  readonly nat: SharedRules
  readonly filter: SharedRules
  /** The chains of this port alone, with their rules. */
  readonly chains: ReadonlyMap<string, readonly string[]>
}

/** Rules without `-A CHAIN`. */
export interface SharedRules {
  readonly services: readonly string[]
  readonly externalServices: readonly string[]
  readonly nodePorts: readonly string[]
  readonly proxyFirewall: readonly string[]
}

/** The facts that decide about the rules of a port. */
interface Facts {
  readonly port: ProxiedPort
  readonly text: string
  readonly chains: PortChains
  readonly hasInternal: boolean
  readonly hasExternal: boolean
  readonly usesFirewall: boolean
}

type MutableRules = { readonly [Chain in keyof SharedRules]: string[] }

const noRules = (): MutableRules => ({ services: [], externalServices: [], nodePorts: [], proxyFirewall: [] })

/** @param isLarge true if rules of endpoints have no comments */
export function portRules(port: ProxiedPort, options: RuleOptions, isLarge: boolean): PortRules {
  const facts = factsOf(port)
  const nat = noRules()
  const filter = noRules()
  addClusterIp(facts, nat, filter)
  addExternalIps(facts, nat, filter)
  addLoadBalancers(facts, nat, filter)
  addNodePorts(facts, nat, filter)
  return { nat, filter, chains: chainsOf(facts, options, isLarge) }
}

function factsOf(port: ProxiedPort): Facts {
  const { hasAny, local } = port.endpoints
  return {
    port,
    text: portText(port),
    chains: portChains(port),
    hasInternal: hasAny && !(port.isInternalLocal && local.length === 0),
    hasExternal: hasAny && !(port.isExternalLocal && local.length === 0),
    usesFirewall: hasAny && port.loadBalancerIPs.length > 0 && port.loadBalancerSourceRanges.length > 0,
  }
}

/** Matches packets to an address and the Service's port. Without an address: to any. */
function to({ port }: Facts, address: string | undefined, number: number): string {
  const protocol = port.protocol.toLowerCase()
  return `-m ${protocol} -p ${protocol} ${address === undefined ? '' : `-d ${address} `}--dport ${number}`
}

/** The verdict for packets that no endpoint may get: rejected if there is none at all, else dropped. */
const refusal = ({ port, text }: Facts): { readonly reason: string; readonly target: string } =>
  port.endpoints.hasAny
    ? { reason: comment(`${text} has no local endpoints`), target: 'DROP' }
    : { reason: comment(`${text} has no endpoints`), target: 'REJECT' }

function addClusterIp(facts: Facts, nat: MutableRules, filter: MutableRules): void {
  const { port, text } = facts
  const match = to(facts, port.clusterIP, port.port)
  const { reason, target } = refusal(facts)
  if (facts.hasInternal) nat.services.push(`${comment(`${text} cluster IP`)} ${match} -j ${internalChain(facts)}`)
  else filter.services.push(`${reason} ${match} -j ${target}`)
}

function addExternalIps(facts: Facts, nat: MutableRules, filter: MutableRules): void {
  const { port, text, chains } = facts
  const { reason, target } = refusal(facts)
  for (const address of port.externalIPs) {
    const match = to(facts, address, port.port)
    if (port.endpoints.hasAny) nat.services.push(`${comment(`${text} external IP`)} ${match} -j ${chains.external}`)
    if (!facts.hasExternal) filter.externalServices.push(`${reason} ${match} -j ${target}`)
  }
}

function addLoadBalancers(facts: Facts, nat: MutableRules, filter: MutableRules): void {
  const { port, text, chains, usesFirewall } = facts
  const { reason, target } = refusal(facts)
  for (const address of port.loadBalancerIPs) {
    const match = to(facts, address, port.port)
    if (port.endpoints.hasAny) {
      const chain = usesFirewall ? chains.firewall : chains.external
      nat.services.push(`${comment(`${text} loadbalancer IP`)} ${match} -j ${chain}`)
    }
    if (usesFirewall)
      filter.proxyFirewall.push(`${comment(`${text} traffic not accepted by ${chains.firewall}`)} ${match} -j DROP`)
    if (!facts.hasExternal) filter.externalServices.push(`${reason} ${match} -j ${target}`)
  }
}

function addNodePorts(facts: Facts, nat: MutableRules, filter: MutableRules): void {
  const { port, text, chains } = facts
  if (port.nodePort !== 0) {
    const match = to(facts, undefined, port.nodePort)
    const { reason, target } = refusal(facts)
    // Source ranges of the load balancer do not apply to node ports.
    if (port.endpoints.hasAny) nat.nodePorts.push(`-m comment --comment ${text} ${match} -j ${chains.external}`)
    if (!facts.hasExternal) filter.externalServices.push(`${reason} -m addrtype --dst-type LOCAL ${match} -j ${target}`)
  }
  // Load balancers ask each node, with and without endpoints.
  if (port.healthCheckNodePort !== 0)
    filter.nodePorts.push(
      `${comment(`${text} health check node port`)} -m tcp -p tcp --dport ${port.healthCheckNodePort} -j ACCEPT`,
    )
}

const internalChain = ({ port, chains }: Facts): string => (port.isInternalLocal ? chains.local : chains.cluster)

function chainsOf(facts: Facts, options: RuleOptions, isLarge: boolean): Map<string, readonly string[]> {
  const { port, chains } = facts
  const { cluster, local, reachable, hasAny } = port.endpoints
  const all = new Map<string, string[]>()
  const masquerade = facts.hasInternal ? masqueradeRules(facts, options) : []
  const intoPolicyChain = (chain: string): string[] => (chain === internalChain(facts) ? masquerade : [])
  if (hasAny && isExternallyReachable(port)) all.set(chains.external, externalRules(facts, options))
  if (facts.usesFirewall) all.set(chains.firewall, firewallRules(facts, options))
  if (cluster.length > 0)
    all.set(chains.cluster, [...intoPolicyChain(chains.cluster), ...selectionRules(port, cluster, isLarge)])
  if (local.length > 0)
    all.set(chains.local, [...intoPolicyChain(chains.local), ...selectionRules(port, local, isLarge)])
  for (const endpoint of reachable)
    for (const [name, rules] of endpointRules(port, endpoint, isLarge)) all.set(name, rules)
  return all
}

/** Connections to the cluster IP from elsewhere are masqueraded, as the endpoint may be on another node. */
function masqueradeRules(facts: Facts, { masqueradeAll, localTraffic }: RuleOptions): string[] {
  const { port, text } = facts
  const match = `${comment(`${text} cluster IP`)} ${to(facts, port.clusterIP, port.port)}`
  if (masqueradeAll) return [`${match} -j KUBE-MARK-MASQ`]
  const notLocal = ifNotLocal(localTraffic)
  return notLocal === undefined ? [] : [`${match} ${notLocal} -j KUBE-MARK-MASQ`]
}

function externalRules(facts: Facts, { localTraffic }: RuleOptions): string[] {
  const { port, text, chains } = facts
  const rules: string[] = []
  if (!port.isExternalLocal) {
    rules.push(`${comment(`masquerade traffic for ${text} external destinations`)} -j KUBE-MARK-MASQ`)
  } else {
    // The traffic policy applies neither to pods nor to the node itself: their connections use all endpoints.
    const local = ifLocal(localTraffic)
    if (local !== undefined)
      rules.push(`${comment(`pod traffic for ${text} external destinations`)} ${local} -j ${chains.cluster}`)
    const fromNode = '-m addrtype --src-type LOCAL'
    rules.push(
      `${comment(`masquerade LOCAL traffic for ${text} external destinations`)} ${fromNode} -j KUBE-MARK-MASQ`,
      `${comment(`route LOCAL traffic for ${text} external destinations`)} ${fromNode} -j ${chains.cluster}`,
    )
  }
  if (facts.hasExternal) rules.push(`-j ${port.isExternalLocal ? chains.local : chains.cluster}`)
  return rules
}

function firewallRules({ port, text, chains }: Facts, { nodeAddress }: RuleOptions): string[] {
  const allow = (source: string): string => `${comment(`${text} loadbalancer IP`)} -s ${source} -j ${chains.external}`
  const rules = port.loadBalancerSourceRanges.map(allow)
  // The address of the load balancer may be one of the node, which is then the source of the node's connections.
  const isNodeAllowed =
    isIP(nodeAddress) !== 0 && port.loadBalancerSourceRanges.some((range) => rangeHas(range, nodeAddress))
  if (isNodeAllowed) rules.push(...port.loadBalancerIPs.map(allow))
  // Packets that reach this end keep their destination, which a rule of KUBE-PROXY-FIREWALL drops.
  rules.push(comment(`other traffic to ${text} will be dropped by KUBE-PROXY-FIREWALL`))
  return rules
}
