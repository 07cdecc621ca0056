/** The policies and the connection to one other node: pure functions of both leases. */
import { parseCidr, rangeHas } from '../../../../lib/cidr.ts'
import type { TunnelPolicy } from '../../../netlink/xfrm/policies.ts'
import type { Lease } from '../../subnets/subnet-manager.ts'
import type { IpsecConfig } from './ipsec-config.ts'
import type { ViciSection } from './vici/vici-message.ts'

/** Connects policies with states that charon makes: upstream's number. */
export const requestId = 11
const ikeProposal = 'aes256-sha256-modp4096'

/** A subnet, and the address of its node. */
export interface Endpoint {
  readonly subnet: string
  readonly address: string
}

/** Returns undefined for a lease without a subnet or an address of IPv4. */
export function endpointOf({ subnet, attributes }: Lease): Endpoint | undefined {
  const address = attributes.publicIP
  return subnet === undefined || address === undefined ? undefined : { subnet, address }
}

/** Policies for packets of both directions. */
export function peerPolicies(own: Endpoint, peer: Endpoint): TunnelPolicy[] {
  const policy = (direction: TunnelPolicy['direction'], from: Endpoint, to: Endpoint): TunnelPolicy => ({
    ...{ direction, source: from.subnet, destination: to.subnet, requestId },
    ...{ tunnelSource: from.address, tunnelDestination: to.address },
  })
  return [policy('out', own, peer), policy('in', peer, own), policy('fwd', peer, own)]
}

/** True for a policy that flannel added for a part of its network, in this or an earlier process. */
export const isOwnPolicy = (network: string, policy: TunnelPolicy): boolean =>
  policy.requestId === requestId && isPartOf(network, policy.source) && isPartOf(network, policy.destination)

/** Upstream's name of a connection. */
export const connectionName = (own: Endpoint, peer: Endpoint): string =>
  [own.address, own.subnet, peer.subnet, peer.address].join('-')

/** True for the name of a connection between parts of flannel's network. */
export function isOwnConnection(network: string, name: string): boolean {
  const [, from = '', to = ''] = /^[\d.]+-([\d./]+)-([\d./]+)-[\d.]+$/.exec(name) ?? []
  return isPartOf(network, from) && isPartOf(network, to)
}

/** Upstream's name of a connection's child: the pair of states that encrypts packets. */
export const childName = (own: Endpoint, peer: Endpoint): string => `${own.subnet}-${peer.subnet}`

/** The connection as strongSwan's `swanctl.conf` has it, with upstream's values. */
export function connectionSection(own: Endpoint, peer: Endpoint, config: IpsecConfig): ViciSection {
  return {
    local_addrs: [own.address],
    remote_addrs: [peer.address],
    proposals: [ikeProposal],
    version: '2',
    encap: config.udpEncap ? 'yes' : 'no',
    // Without an end.
    keyingtries: '0',
    local: { auth: 'psk' },
    remote: { auth: 'psk' },
    children: {
      [childName(own, peer)]: {
        local_ts: [own.subnet],
        remote_ts: [peer.subnet],
        esp_proposals: [config.espProposal],
        start_action: 'start',
        close_action: 'trap',
        dpd_action: 'restart',
        mode: 'tunnel',
        reqid: String(requestId),
        rekey_time: '1h',
        // They are flannel's own, and stay while no state exists: packets then wait, and never leave as they are.
        policies: 'no',
      },
    },
  }
}

function isPartOf(network: string, range: string): boolean {
  const [address = '', prefix = ''] = range.split('/')
  return Number(prefix) > (parseCidr(network)?.prefix ?? 0) && rangeHas(network, address)
}
