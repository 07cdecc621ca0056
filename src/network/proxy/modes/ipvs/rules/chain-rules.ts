/** The chains of iptables in the mode ipvs, with upstream's names, rules and order. They match sets, not Services. */

import type { Table } from '../../../../iptables/iptables-programs.ts'
import type { IpFamily } from '../../../picture/service-port.ts'
import { forwardRules, type Jump, masqueradeChainRules } from '../../iptables/rules/fixed-rules.ts'
import { comment, ifNotLocal } from '../../iptables/rules/rule-options.ts'
import type { LocalTraffic } from '../../mode-options.ts'
import type { BlockedAddress } from '../wanted/service-objects.ts'
import { type SetKey, setName, sets } from './ip-sets.ts'

export interface ChainOptions {
  readonly family: IpFamily
  readonly localTraffic: LocalTraffic
  readonly masqueradeAll: boolean
  /** `0x4000`. */
  readonly masqueradeMark: string
  readonly hasRandomFully: boolean
}

/** A chain and its rules, without `-A CHAIN`. */
export interface ChainRules {
  readonly table: Table
  readonly chain: string
  readonly rules: readonly string[]
}

const jump = (table: 'filter' | 'nat', from: string, to: string, text: string): Jump => ({
  table,
  from,
  rule: `${comment(text)} -j ${to}`,
  isOfKubelet: false,
})

/** In the order in which upstream inserts them: the last one of a chain comes first. */
export const ipvsJumps: readonly Jump[] = [
  jump('nat', 'OUTPUT', 'KUBE-SERVICES', 'kubernetes service portals'),
  jump('nat', 'PREROUTING', 'KUBE-SERVICES', 'kubernetes service portals'),
  jump('nat', 'POSTROUTING', 'KUBE-POSTROUTING', 'kubernetes postrouting rules'),
  jump('filter', 'FORWARD', 'KUBE-FORWARD', 'kubernetes forwarding rules'),
  jump('filter', 'INPUT', 'KUBE-NODE-PORT', 'kubernetes health check rules'),
  jump('filter', 'INPUT', 'KUBE-PROXY-FIREWALL', 'kube-proxy firewall rules'),
  jump('filter', 'FORWARD', 'KUBE-PROXY-FIREWALL', 'kube-proxy firewall rules'),
  jump('filter', 'INPUT', 'KUBE-IPVS-FILTER', 'kubernetes ipvs access filter'),
  jump('filter', 'OUTPUT', 'KUBE-IPVS-OUT-FILTER', 'kubernetes ipvs access filter'),
]

/** All chains by table: those that a clean-up removes. */
export const ipvsChains = {
  nat: ['KUBE-SERVICES', 'KUBE-POSTROUTING', 'KUBE-NODE-PORT', 'KUBE-LOAD-BALANCER', 'KUBE-MARK-MASQ'],
  filter: [
    ...['KUBE-FORWARD', 'KUBE-NODE-PORT', 'KUBE-PROXY-FIREWALL', 'KUBE-SOURCE-RANGES-FIREWALL'],
    ...['KUBE-IPVS-FILTER', 'KUBE-IPVS-OUT-FILTER'],
  ],
} as const

/** @param hasEntries true for sets that are not empty: as upstream, the others have no rules */
export function chainRules(
  options: ChainOptions,
  hasEntries: (set: SetKey) => boolean,
  blocked: readonly BlockedAddress[],
): ChainRules[] {
  const rules = new Rules(options, hasEntries)
  return [...natChains(rules, options), ...filterChains(rules, options, blocked)]
}

/** Matches of sets, for one family. */
class Rules {
  readonly #family: IpFamily
  readonly #hasEntries: (set: SetKey) => boolean

  constructor({ family }: ChainOptions, hasEntries: (set: SetKey) => boolean) {
    this.#family = family
    this.#hasEntries = hasEntries
  }

  /** Matches packets by a set: `dst,dst` compares the destination and its port with the entries. */
  match(set: SetKey, directions: string): string {
    return `-m set --match-set ${setName(set, this.#family)} ${directions}`
  }

  /** A rule with the set's comment, or none while the set is empty. `extra` are more matches. */
  of(set: SetKey, directions: string, target: string, extra = ''): string[] {
    if (!this.#hasEntries(set)) return []
    const { protocol = '', rest = '' } = splitProtocol(extra)
    return [`${protocol}${comment(sets[set].comment)} ${this.match(set, directions)}${rest} -j ${target}`]
  }

  /** A rule without a comment, or none while the set is empty. */
  plain(set: SetKey, directions: string, target: string): string[] {
    return this.#hasEntries(set) ? [`${this.match(set, directions)} -j ${target}`] : []
  }
}

/** Upstream writes the protocol before the comment, and other matches after the set. */
const splitProtocol = (extra: string): { readonly protocol?: string; readonly rest?: string } =>
  extra.startsWith('-p ') ? { protocol: `${extra} ` } : { rest: extra && ` ${extra}` }

function natChains(rules: Rules, options: ChainOptions): ChainRules[] {
  const nat = (chain: string, ...parts: readonly (readonly string[])[]): ChainRules => ({
    table: 'nat',
    chain,
    rules: parts.flat(),
  })
  const portRules = (set: 'Tcp' | 'Udp' | 'Sctp'): string[] => {
    const directions = set === 'Sctp' ? 'dst,dst' : 'dst'
    const protocol = `-p ${set.toLowerCase()}`
    return [
      ...rules.of(`nodePortLocal${set}`, directions, 'RETURN', protocol),
      ...rules.of(`nodePort${set}`, directions, 'KUBE-MARK-MASQ', protocol),
    ]
  }
  const masquerade = masqueradeChainRules(options)
  const ofChain = (chain: string): string[] =>
    masquerade.flatMap((line) => (line.startsWith(`-A ${chain} `) ? [line.slice(`-A ${chain} `.length)] : []))
  return [
    nat('KUBE-SERVICES', serviceRules(rules, options)),
    nat('KUBE-POSTROUTING', rules.of('loopBack', 'dst,dst,src', 'MASQUERADE'), ofChain('KUBE-POSTROUTING')),
    nat('KUBE-NODE-PORT', portRules('Tcp'), portRules('Udp'), portRules('Sctp')),
    nat('KUBE-LOAD-BALANCER', rules.of('loadBalancerLocal', 'dst,dst', 'RETURN'), ['-j KUBE-MARK-MASQ']),
    nat('KUBE-MARK-MASQ', ofChain('KUBE-MARK-MASQ')),
  ]
}

function serviceRules(rules: Rules, options: ChainOptions): string[] {
  const external = (set: SetKey): string[] => [
    // Packets neither from a container, by a bridge, nor from the node itself.
    ...rules.of(set, 'dst,dst', 'ACCEPT', '-m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL'),
    ...rules.of(set, 'dst,dst', 'ACCEPT', '-m addrtype --dst-type LOCAL'),
  ]
  return [
    `-s ${options.family === 4 ? '127.0.0.0/8' : '::1/128'} -j RETURN`,
    ...rules.of('loadBalancer', 'dst,dst', 'KUBE-LOAD-BALANCER'),
    ...clusterIpRules(rules, options),
    ...rules.of('externalIp', 'dst,dst', 'KUBE-MARK-MASQ'),
    ...external('externalIp'),
    ...external('externalIpLocal'),
    '-m addrtype --dst-type LOCAL -j KUBE-NODE-PORT',
    // These are last: other rules must not touch packets to Services.
    ...rules.plain('clusterIp', 'dst,dst', 'ACCEPT'),
    ...rules.plain('loadBalancer', 'dst,dst', 'ACCEPT'),
  ]
}

function clusterIpRules(rules: Rules, { masqueradeAll, localTraffic }: ChainOptions): string[] {
  if (masqueradeAll) return rules.of('clusterIp', 'dst,dst', 'KUBE-MARK-MASQ')
  const notLocal = ifNotLocal(localTraffic)
  if (notLocal !== undefined) return rules.of('clusterIp', 'dst,dst', 'KUBE-MARK-MASQ', notLocal)
  // The node's own connections have a cluster IP as their source, as the node has these addresses.
  return rules.of('clusterIp', 'src,dst', 'KUBE-MARK-MASQ')
}

function filterChains(rules: Rules, options: ChainOptions, blocked: readonly BlockedAddress[]): ChainRules[] {
  const filter = (chain: string, lines: readonly string[]): ChainRules => ({ table: 'filter', chain, rules: lines })
  const allowed = ['loadBalancer', 'clusterIp', 'externalIp', 'externalIpLocal'] as const
  const forward = forwardRules({ ...options, isConntrackLiberal: true }).map((line) =>
    line.replace('-A KUBE-FORWARD ', ''),
  )
  return [
    filter('KUBE-FORWARD', forward),
    filter('KUBE-NODE-PORT', [
      `${comment(sets.healthCheckNodePort.comment)} ${rules.match('healthCheckNodePort', 'dst')} -j ACCEPT`,
    ]),
    filter('KUBE-PROXY-FIREWALL', rules.of('loadBalancerFirewall', 'dst,dst', 'KUBE-SOURCE-RANGES-FIREWALL')),
    filter('KUBE-SOURCE-RANGES-FIREWALL', [
      ...rules.of('loadBalancerSourceCidr', 'dst,dst,src', 'RETURN'),
      ...rules.of('loadBalancerSourceIp', 'dst,dst,src', 'RETURN'),
      '-j DROP',
    ]),
    // The node has the addresses of Services, but its own servers must not be reachable by them.
    filter('KUBE-IPVS-FILTER', [
      ...allowed.map((set) => `${rules.match(set, 'dst,dst')} -j RETURN`),
      `${rules.match('healthCheckNodePort', 'dst')} -j RETURN`,
      `-m conntrack --ctstate NEW ${rules.match('ipvsIps', 'dst')} -j REJECT`,
    ]),
    filter(
      'KUBE-IPVS-OUT-FILTER',
      blocked.map(
        ({ address, port, protocol }) =>
          `-s ${address} -m ipvs --vaddr ${address} --vproto ${protocol.toLowerCase()} --vport ${port} -j DROP`,
      ),
    ),
  ]
}
