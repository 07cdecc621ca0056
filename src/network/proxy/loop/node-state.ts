/** The parts of a Node that kube-proxy reads: addresses, ranges of pods, and the zone. */
import { isIP } from 'node:net'
import type { Node } from '../../../client/kinds.ts'
import type { IpFamily } from '../picture/service-port.ts'

export interface NodeState {
  /** The family of the node's first address. */
  readonly primaryFamily: IpFamily
  /** By family; loopback if the Node has none. */
  readonly addresses: Readonly<Record<IpFamily, string>>
  readonly podCidrs: readonly string[]
  /** Empty if there is none. */
  readonly zone: string
}

const zoneLabel = 'topology.kubernetes.io/zone'
const loopback = { 4: '127.0.0.1', 6: '::1' } as const
const unspecified = new Set(['', '0.0.0.0', '::'])

/** The state of a Node, or of one that does not exist. `bindAddress` overrides its primary address. */
export function nodeState(node: Node | undefined, bindAddress = ''): NodeState {
  const found = nodeAddresses(node)
  const primary = unspecified.has(bindAddress) ? found[0] : bindAddress
  const primaryFamily = primary !== undefined && isIP(primary) === 6 ? 6 : 4
  const addressOf = (family: IpFamily): string =>
    (family === primaryFamily ? primary : found.find((address) => isIP(address) === family)) ?? loopback[family]
  const { podCIDRs = [], podCIDR } = node?.spec ?? {}
  return {
    primaryFamily,
    addresses: { 4: addressOf(4), 6: addressOf(6) },
    podCidrs: podCIDRs.length > 0 || !podCIDR ? podCIDRs : [podCIDR],
    zone: node?.metadata.labels?.[zoneLabel] ?? '',
  }
}

/** The internal addresses, then the external ones. */
function nodeAddresses(node: Node | undefined): string[] {
  const all = node?.status?.addresses ?? []
  const of = (type: string): string[] => all.filter((one) => one.type === type).map(({ address }) => address)
  return [...of('InternalIP'), ...of('ExternalIP')].filter((address) => isIP(address) !== 0)
}

/** A text that differs if the modes must be made again. */
export const stateKey = ({ primaryFamily, addresses, podCidrs }: NodeState): string =>
  [primaryFamily, addresses[4], addresses[6], ...podCidrs].join(' ')
