/** The interface of subnet managers: where nodes get their subnets, and learn those of others. */
import type { NetworkConfig } from '../config/network-config.ts'

/** The data that a node publishes with its subnet, so that others reach it. */
export interface LeaseAttributes {
  /** The address by which other nodes reach this one. */
  readonly publicIP?: string | undefined
  readonly publicIPv6?: string | undefined
  /** `vxlan`; empty for the backend alloc. */
  readonly backendType: string
  /** JSON of the backend's own: `{"VNI":1,"VtepMAC":"12:c6:65:89:b4:e3"}`. Undefined: null. */
  readonly backendData?: object | undefined
  readonly backendV6Data?: object | undefined
}

export interface Lease {
  /** A name of the node, for messages; it identifies nothing. */
  readonly node: string
  /** `10.244.1.0/24`; undefined if IPv4 is off. */
  readonly subnet: string | undefined
  readonly ipv6Subnet: string | undefined
  readonly attributes: LeaseAttributes
  /** In ms since 1970; undefined for a lease without end. */
  readonly expiresAt?: number | undefined
}

/** A change of the leases of all nodes; this node's own may be among them. The first one is a snapshot. */
export type LeaseEvent =
  /** All leases; those that are not in it have ended. Also after a watch has lost events. */
  | { readonly type: 'snapshot'; readonly leases: readonly Lease[] }
  /** A new lease, or new attributes of one. */
  | { readonly type: 'added'; readonly lease: Lease }
  | { readonly type: 'removed'; readonly lease: Lease }

/** The data that a node published before flannel was restarted, and that an administrator wrote for it. */
export interface StoredNode {
  /** An address that an administrator gave the node: it replaces `--public-ip`. */
  readonly publicIP?: string | undefined
  readonly publicIPv6?: string | undefined
  readonly backendData?: unknown
  readonly backendV6Data?: unknown
}

export interface SubnetManager {
  /** For the log: `Kubernetes Subnet Manager - node-1`. */
  readonly name: string

  /** Resolves with the network's configuration. Rejects while it does not exist: the caller retries. */
  networkConfig(signal: AbortSignal): Promise<NetworkConfig>

  /** Resolves with what this node published earlier; empty for a new node. */
  storedNode(signal: AbortSignal): Promise<StoredNode>

  /**
   * Publishes the attributes, and resolves with this node's lease: the earlier one if it can be kept. Rejects with a
   * sentence if the node has no subnet.
   */
  acquireLease(attributes: LeaseAttributes, signal: AbortSignal): Promise<Lease>

  /**
   * Called once when the network works. Renews the lease until the signal is aborted, if leases end. Rejects if the
   * lease is lost: flannel then ends and starts again.
   */
  completeLease(lease: Lease, signal: AbortSignal): Promise<void>

  /** Calls `notify` with a snapshot and then with each event, until the signal is aborted. Resolves at the end. */
  watchLeases(notify: (event: LeaseEvent) => void, signal: AbortSignal): Promise<void>

  /** Records an event that an administrator of the node should see; does nothing where there is no such place. */
  recordEvent(reason: string, message: string): void

  /** Closes connections. */
  stop(): Promise<void>
}

/** The key of a lease: two leases of the same subnets are the same one. */
export const leaseKey = ({ subnet = '', ipv6Subnet = '' }: Pick<Lease, 'subnet' | 'ipv6Subnet'>): string =>
  `${subnet}&${ipv6Subnet}`
