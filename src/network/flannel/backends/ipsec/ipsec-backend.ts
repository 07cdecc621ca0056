/**
 * The backend ipsec: packets to pods of other nodes travel encrypted, in packets of ESP. The kernel encrypts;
 * strongSwan's daemon charon exchanges keys (IKEv2).
 */
import { existsSync } from 'node:fs'
import { errorCode } from '../../../../lib/explained-error.ts'
import type { SystemCalls } from '../../../../lib/linux/system-calls.ts'
import type { Backend } from '../backend.ts'
import { CharonDaemon, charonSocket } from './charon/charon-daemon.ts'
import { findCharon } from './charon/find-charon.ts'
import { ipsecConfig } from './ipsec-config.ts'
import { IpsecNetwork, ipsecType } from './ipsec-network.ts'
import { endpointOf } from './ipsec-peer.ts'
import { withXfrm } from './ipsec-policies.ts'

/** The headers of IP and ESP, an initial value, padding and a checksum, and a header of UDP, in bytes: upstream's. */
const overheads = { esp: 77, udp: 8 } as const

export const ipsecBackend: Backend = {
  type: ipsecType,
  async register(context) {
    const { config, external, subnets, calls, environment, signal, log } = context
    if (!config.enableIPv4 || external.address === undefined)
      throw new Error('the backend ipsec carries IPv4 only: set EnableIPv4 to true, or use the backend wireguard')
    if (config.enableIPv6) log('the backend ipsec carries IPv4 only: pods of other nodes have no IPv6 address to reach')
    const settings = ipsecConfig(config.backend)
    const overhead = overheads.esp + (settings.udpEncap ? overheads.udp : 0)
    if (external.mtu <= overhead)
      throw new Error(`MTU ${external.mtu} of iface ${external.name} is too small for ipsec mode to work`)
    log(`IPSec config: UDPEncap=${settings.udpEncap} ESPProposal=${settings.espProposal}`)
    checkPolicies(calls)
    const find = (): string => findCharon(environment.PATH)
    // A missing program is reported before the node has a lease.
    if (!existsSync(charonSocket)) find()
    const lease = await subnets.acquireLease({ backendType: ipsecType, publicIP: external.publicIP }, signal)
    const own = endpointOf(lease)
    if (!own) throw new Error('IPv4 is enabled but the lease has no IPv4: give the node a subnet of IPv4')
    const daemon = new CharonDaemon({ find, environment, log, signal })
    ;(await daemon.connect()).close()
    const network = new IpsecNetwork(context, { config: settings, lease, own, mtu: external.mtu - overhead, daemon })
    await network.restore()
    return network
  },
}

/** @throws an Error with the kernel's module if it is missing. */
function checkPolicies(calls: SystemCalls): void {
  try {
    withXfrm(calls, () => {})
  } catch (error) {
    if (errorCode(error) !== 'EPROTONOSUPPORT') throw error
    throw new Error(
      'the kernel lacks the module xfrm_user. Load it with modprobe xfrm_user, or use the backend wireguard',
      { cause: error },
    )
  }
}
