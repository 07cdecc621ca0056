/** The rules of a node's pods as data, for one family: what a backend brings into effect. */
import type { AddressBlock } from '../../netlink/nftables/address-intervals.ts'
import type { Direction, PortRange } from '../picture/compiled-policy.ts'

/** The other end of a connection. */
export type PeerMatch =
  | { readonly kind: 'set'; readonly set: string }
  | { readonly kind: 'blocks'; readonly blocks: readonly AddressBlock[] }

/** Ports of one protocol. */
export interface PortMatch {
  readonly protocol: string
  /** Sorted, without overlaps. Empty: all ports. */
  readonly ranges: readonly Pick<PortRange, 'first' | 'last'>[]
}

/** The rules of another chain decide. */
export interface GoTo {
  readonly goTo: string
}

/** All conditions must hold. */
export interface PolicyRule {
  readonly peers?: PeerMatch
  readonly ports?: PortMatch
  /** A set of destinations with their ports. */
  readonly destinations?: string
  /** `return` allows the packet in this direction; a chain that ends does, too. */
  readonly verdict: 'return' | 'drop' | GoTo
  readonly comment: string
}

export interface PolicyChain {
  readonly direction: Direction
  readonly rules: readonly PolicyRule[]
}

/** Elements are addresses, or `ADDRESS . PROTOCOL . PORT`. */
export interface PolicySet {
  readonly kind: 'addresses' | 'destinations'
  readonly elements: ReadonlySet<string>
}

/** Equal parts of two states are often the same object, so that backends need to compare the others only. */
export interface PolicyState {
  readonly chains: ReadonlyMap<string, PolicyChain>
  readonly sets: ReadonlyMap<string, PolicySet>
  /** The first chains of isolated pods by their address. */
  readonly isolated: Readonly<Record<Direction, ReadonlyMap<string, string>>>
  /** Those for packets of such a pod to itself, which returned by a Service. Without one, it reaches itself. */
  readonly selfIsolated: Readonly<Record<Direction, ReadonlyMap<string, string>>>
}

/** Brings states into effect. */
export interface PolicyBackend {
  /**
   * Replaces the earlier state; the first call replaces what an earlier process has left.
   * Rejects if the kernel does; the next call replaces everything.
   */
  apply(wanted: PolicyState): Promise<void>
  /** Removes all rules. Does nothing if there are none. */
  remove(): Promise<void>
}
