/**
 * The parts that the table always has, also without Services: sets, chains that the kernel calls for packets, and the
 * chains between them and those of Services (KEP-3866). Packets to Services are translated before routing or, from this
 * machine, on output; source ranges are checked before that, ports without endpoints after it.
 */

import {
  flipMark,
  masquerade,
  reject,
  rejectWithReset,
  setMark,
  verdict,
  verdictOfMap,
} from '../../../netlink/nftables/actions.ts'
import { intervalsOf } from '../../../netlink/nftables/address-intervals.ts'
import type { BaseChain, Rule, TableSet } from '../../../netlink/nftables/commands.ts'
import {
  addressSelector,
  type Expression,
  portSelector,
  protocolSelector,
  type Selector,
} from '../../../netlink/nftables/expression.ts'
import {
  arrivedAt,
  hasMark,
  hasPrefix,
  hasProtocol,
  hasTranslatedDestination,
  isInIntervals,
  isInSet,
  isLocalAddress,
  isNewConnection,
} from '../../../netlink/nftables/matches.ts'
import { type DataType, dataTypes, drop, goTo, keyBytes } from '../../../netlink/nftables/values.ts'
import type { IpFamily } from '../../picture/service-port.ts'
import type { ModeOptions } from '../mode-options.ts'

export interface LayoutChain {
  readonly name: string
  readonly comment?: string
  readonly base?: BaseChain
  readonly rules: readonly Rule[]
}

export const chainNames = { reject: 'reject-chain' } as const

/** The sets that Services have elements in. */
export interface TableSets {
  readonly clusterIPs: TableSet
  readonly serviceIPs: TableSet
  readonly serviceNodePorts: TableSet
  readonly noEndpointServices: TableSet
  readonly noEndpointNodePorts: TableSet
  readonly firewallIPs: TableSet
  readonly hairpinConnections: TableSet
}

export const addressType = (family: IpFamily): DataType =>
  family === 4 ? dataTypes.ipv4Address : dataTypes.ipv6Address

export function tableSets(family: IpFamily): TableSets {
  const address = addressType(family)
  const nodePort = [dataTypes.protocol, dataTypes.port]
  const map = (name: string, keyTypes: readonly DataType[], comment: string): TableSet => ({
    name,
    keyTypes,
    isVerdictMap: true,
    comment,
  })
  const destination = [address, ...nodePort]
  return {
    clusterIPs: { name: 'cluster-ips', keyTypes: [address], comment: 'Active ClusterIPs' },
    serviceIPs: map('service-ips', destination, 'ClusterIP, ExternalIP and LoadBalancer IP traffic'),
    serviceNodePorts: map('service-nodeports', nodePort, 'NodePort traffic'),
    noEndpointServices: map(
      'no-endpoint-services',
      destination,
      'vmap to drop or reject packets to services with no endpoints',
    ),
    noEndpointNodePorts: map(
      'no-endpoint-nodeports',
      nodePort,
      'vmap to drop or reject packets to service nodeports with no endpoints',
    ),
    firewallIPs: map('firewall-ips', destination, 'destinations that are subject to LoadBalancerSourceRanges'),
    hairpinConnections: {
      name: 'hairpin-connections',
      keyTypes: [address, ...destination],
      comment: 'service hairpin connections',
    },
  }
}

/** The addresses that accept node ports; only if they are not all of the machine. */
export const nodePortIPs = (family: IpFamily): TableSet => ({
  name: 'nodeport-ips',
  keyTypes: [addressType(family)],
  comment: 'IPs that accept NodePort traffic',
})

/** True for connections that pods of this node make, or with `isNegated`, for others. Undefined: not recognized. */
export function isLocalTraffic({ family, localTraffic }: ModeOptions, isNegated: boolean): Expression | undefined {
  switch (localTraffic.kind) {
    case 'cidrs':
      return localTraffic.cidrs.length === 0 ? undefined : isInRanges(family, 'saddr', localTraffic.cidrs, isNegated)
    case 'bridge':
      return arrivedAt(localTraffic.name, isNegated)
    case 'interface-prefix':
      return arrivedAt(`${localTraffic.prefix}*`, isNegated)
    case 'none':
      return undefined
    default:
      return localTraffic satisfies never
  }
}

/** True for packets with an address in the ranges. */
export function isInRanges(
  family: IpFamily,
  field: 'saddr' | 'daddr',
  ranges: readonly string[],
  isNegated: boolean,
): Expression {
  const selector = addressSelector(family, field)
  const [only = ''] = ranges
  const [address = '', bits] = only.split('/')
  if (ranges.length === 1 && bits !== undefined) {
    const prefix = { text: only, address: keyBytes([addressType(family)], address), bits: Number(bits) }
    return hasPrefix(selector, prefix, isNegated)
  }
  return isInIntervals(selector, ranges.join(', '), intervalsOf(family, ranges), isNegated)
}

/** The bit that marks packets for masquerading. */
export const masqueradeMark = ({ masqueradeBit }: ModeOptions): number => (1 << masqueradeBit) >>> 0

/** All chains that the table always has. */
export const layoutChains = (options: ModeOptions): LayoutChain[] => [
  ...baseChains(options),
  servicesChain(options),
  ...checkChains(options),
  masqueradingChain(options),
]

const dnatPriority = -100
const beforeDnat = dnatPriority - 10

function baseChains({ servedInterfaces }: ModeOptions): LayoutChain[] {
  const jump = (chain: string, ...conditions: readonly Expression[]): Rule => ({
    expressions: [...conditions, verdict({ action: 'jump', chain })],
  })
  const check = (chain: string): Rule => jump(chain, isNewConnection)
  // Bridges of other clusters in this network namespace have a proxy of their own.
  const skipOthers: readonly Rule[] = servedInterfaces
    ? [
        {
          expressions: [
            arrivedAt(`${servedInterfaces.bridgePrefix}*`),
            arrivedAt(servedInterfaces.ownBridge, true),
            verdict({ action: 'return' }),
          ],
        },
      ]
    : []
  const chain = (
    name: string,
    type: BaseChain['type'],
    hook: BaseChain['hook'],
    priority: number,
    ...rules: readonly Rule[]
  ): LayoutChain => ({
    name,
    base: { type, hook, priority },
    rules: hook === 'output' || hook === 'postrouting' ? rules : [...skipOthers, ...rules],
  })
  return [
    chain('filter-prerouting-pre-dnat', 'filter', 'prerouting', beforeDnat, check('firewall-check')),
    chain('filter-output-pre-dnat', 'filter', 'output', beforeDnat, check('firewall-check')),
    chain('filter-input', 'filter', 'input', 0, check('nodeport-endpoints-check'), check('service-endpoints-check')),
    chain('filter-forward', 'filter', 'forward', 0, check('service-endpoints-check'), check('cluster-ips-check')),
    chain('filter-output', 'filter', 'output', 0, check('service-endpoints-check'), check('cluster-ips-check')),
    chain('nat-prerouting', 'nat', 'prerouting', dnatPriority, jump('services')),
    chain('nat-output', 'nat', 'output', dnatPriority, jump('services')),
    chain('nat-postrouting', 'nat', 'postrouting', 100, jump('masquerading')),
  ]
}

const nodePortKey: readonly Selector[] = [protocolSelector, portSelector]
const destinationKey = (family: IpFamily): readonly Selector[] => [addressSelector(family, 'daddr'), ...nodePortKey]

function servicesChain(options: ModeOptions): LayoutChain {
  const { family, masqueradeAll, nodePortAddresses } = options
  const sets = tableSets(family)
  const isNotLocal = isLocalTraffic(options, true)
  const isClusterIP = isInSet([addressSelector(family, 'daddr')], sets.clusterIPs.name)
  const mark = setMark(masqueradeMark(options))
  // A route for the range of Services may lead clients from outside to this node, which answers through itself.
  const masquerading: readonly Rule[] = masqueradeAll
    ? [{ expressions: [isClusterIP, mark], comment: 'masquerade all clusterIP traffic' }]
    : isNotLocal
      ? [
          {
            expressions: [isClusterIP, isNotLocal, mark],
            comment: 'masquerade clusterIP traffic from outside cluster',
          },
        ]
      : []
  const isNodeAddress = nodePortAddresses().isAll
    ? [isLocalAddress('daddr'), isNoLoopback(family)]
    : [isInSet([addressSelector(family, 'daddr')], nodePortIPs(family).name)]
  const rules = [
    ...masquerading,
    { expressions: [verdictOfMap(destinationKey(family), sets.serviceIPs.name)] },
    { expressions: [...isNodeAddress, verdictOfMap(nodePortKey, sets.serviceNodePorts.name)] },
  ]
  return { name: 'services', rules }
}

/** Translated packets cannot leave the loopback interface. */
const isNoLoopback = (family: IpFamily): Expression =>
  isInRanges(family, 'daddr', [family === 4 ? '127.0.0.0/8' : '::1/128'], true)

function checkChains({ family, nodePortAddresses, serviceCidrs }: ModeOptions): LayoutChain[] {
  const sets = tableSets(family)
  const daddr = [addressSelector(family, 'daddr')]
  const isNodeAddress = nodePortAddresses().isAll ? isNoLoopback(family) : isInSet(daddr, nodePortIPs(family).name)
  const cidrs = serviceCidrs?.() ?? []
  const map = (set: TableSet): Rule => ({ expressions: [verdictOfMap(destinationKey(family), set.name)] })
  const unallocated: readonly Rule[] =
    cidrs.length === 0
      ? []
      : [
          {
            expressions: [isInRanges(family, 'daddr', cidrs, false), verdict(drop)],
            comment: 'Drop traffic to unallocated ClusterIPs',
          },
        ]
  return [
    {
      name: chainNames.reject,
      comment: 'helper for @no-endpoint-services / @no-endpoint-nodeports',
      // The kernel limits the number of ICMP errors for a client, but not that of resets.
      rules: [{ expressions: [hasProtocol('tcp'), rejectWithReset] }, { expressions: [reject(family)] }],
    },
    { name: 'firewall-check', rules: [map(sets.firewallIPs)] },
    { name: 'service-endpoints-check', rules: [map(sets.noEndpointServices)] },
    {
      name: 'nodeport-endpoints-check',
      rules: [{ expressions: [isNodeAddress, verdictOfMap(nodePortKey, sets.noEndpointNodePorts.name)] }],
    },
    {
      name: 'cluster-ips-check',
      rules: [
        {
          expressions: [isInSet(daddr, sets.clusterIPs.name), verdict(goTo(chainNames.reject))],
          comment: 'Reject traffic to invalid ports of ClusterIPs',
        },
        ...unallocated,
      ],
    },
  ]
}

/** The mark is removed: a tunnel's packet takes it over, and would be masqueraded once more. */
function masqueradingChain(options: ModeOptions): LayoutChain {
  const { family } = options
  const mark = masqueradeMark(options)
  const key = [addressSelector(family, 'saddr'), ...destinationKey(family)]
  const hairpin = isInSet(key, tableSets(family).hairpinConnections.name)
  return {
    name: 'masquerading',
    rules: [
      { expressions: [hasMark(mark), flipMark(mark), masquerade] },
      { expressions: [hasTranslatedDestination, hairpin, masquerade] },
    ],
  }
}
