/** Policies of the kernel and connections of charon to each other node. Only differences are written. */
import { messageOf } from '../../../../lib/message-of.ts'
import { hasEsp } from '../../../netlink/xfrm/esp-support.ts'
import { XfrmPolicies } from '../../../netlink/xfrm/policies.ts'
import type { LeaseChange } from '../../subnets/lease-table.ts'
import type { Lease } from '../../subnets/subnet-manager.ts'
import type { BackendContext, BackendNetwork } from '../backend.ts'
import { IgnoredLeases } from '../ignored-leases.ts'
import { CharonConnections } from './charon/charon-connections.ts'
import type { CharonDaemon } from './charon/charon-daemon.ts'
import type { IpsecConfig } from './ipsec-config.ts'
import { type Endpoint, endpointOf, isOwnPolicy, peerPolicies } from './ipsec-peer.ts'
import { syncPolicies, withXfrm } from './ipsec-policies.ts'

export const ipsecType = 'ipsec'

export interface IpsecSettings {
  readonly config: IpsecConfig
  readonly lease: Lease
  readonly own: Endpoint
  readonly mtu: number
  readonly daemon: CharonDaemon
}

export class IpsecNetwork implements BackendNetwork {
  readonly lease: Lease
  readonly mtu: number
  readonly #context: BackendContext
  readonly #settings: IpsecSettings
  readonly #ignored: IgnoredLeases
  readonly #connections: CharonConnections
  readonly #network: string
  #peers: readonly Endpoint[] | undefined
  /** Undefined before the first check. */
  #hasEsp: boolean | undefined

  constructor(context: BackendContext, settings: IpsecSettings) {
    this.#context = context
    this.#settings = settings
    this.#ignored = new IgnoredLeases(ipsecType, context.log)
    this.#network = context.config.network ?? ''
    const { own, config } = settings
    this.#connections = new CharonConnections({ own, config, network: this.#network, log: context.log })
    this.lease = settings.lease
    this.mtu = settings.mtu
  }

  async apply({ leases }: LeaseChange): Promise<void> {
    this.#peers = this.#ignored.filter(leases).flatMap((lease) => {
      const peer = endpointOf(lease)
      if (!peer) this.#context.log(`ipsec: the node ${lease.node} has no IPv4 ${lease.subnet ? 'address' : 'subnet'}`)
      return peer ?? []
    })
    await this.restore()
  }

  async restore(): Promise<void> {
    this.#checkKernel()
    const peers = this.#peers
    // Without all leases, policies for nodes that are not known yet would be removed.
    if (!peers) return
    const failures: string[] = []
    try {
      this.#syncPolicies(peers)
    } catch (error) {
      failures.push(messageOf(error))
    }
    try {
      await this.#syncConnections(peers)
    } catch (error) {
      failures.push(messageOf(error))
    }
    if (failures.length > 0) throw new Error(failures.join('; '))
  }

  /** charon and its states remain, so that packets reach other nodes while flannel restarts. */
  stop(): void {}

  #syncPolicies(peers: readonly Endpoint[]): void {
    const { calls, log } = this.#context
    const wanted = peers.flatMap((peer) => peerPolicies(this.#settings.own, peer))
    const done = withXfrm(calls, (socket) =>
      syncPolicies(new XfrmPolicies(socket), wanted, (policy) => isOwnPolicy(this.#network, policy)),
    )
    for (const line of done) log(`ipsec: ${line}`)
  }

  async #syncConnections(peers: readonly Endpoint[]): Promise<void> {
    const client = await this.#settings.daemon.connect()
    try {
      await this.#connections.sync(client, peers, performance.now(), this.#hasEsp ?? false)
    } finally {
      client.close()
    }
  }

  /** The kernel loads the module by itself where it is installed. */
  #checkKernel(): void {
    if (this.#hasEsp) return
    const before = this.#hasEsp
    const found = withXfrm(this.#context.calls, hasEsp)
    this.#hasEsp = found
    if (found === (before ?? true)) return
    this.#context.log(
      found
        ? 'ipsec: the kernel has the module esp4 now'
        : 'ipsec: the kernel lacks the module esp4: packets to other nodes are lost until it is loaded. ' +
            'Load it with modprobe esp4, or use the backend wireguard',
    )
  }
}
