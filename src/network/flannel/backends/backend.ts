/**
 * The interface of backends: how packets for pods of other nodes get there. A backend is a folder here, and a line in
 * `registry.ts`.
 */
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import type { NetworkConfig } from '../config/network-config.ts'
import type { ExternalInterface } from '../interface/external-interface.ts'
import type { LeaseChange } from '../subnets/lease-table.ts'
import type { Lease, SubnetManager } from '../subnets/subnet-manager.ts'

export interface BackendContext {
  readonly config: NetworkConfig
  readonly external: ExternalInterface
  readonly subnets: Pick<SubnetManager, 'acquireLease' | 'storedNode' | 'recordEvent'>
  readonly calls: SystemCalls
  readonly log: (line: string) => void
  /** Variables of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Returns random bytes, for MAC addresses and keys. */
  readonly random: (size: number) => Uint8Array
  /** Aborted when flannel ends. */
  readonly signal: AbortSignal
}

/** The network of a backend on this node. Calls do not overlap. What it made in the kernel outlives the process. */
export interface BackendNetwork {
  /** This node's own. */
  readonly lease: Lease
  /** The size of packets of pods, in bytes. */
  readonly mtu: number
  /**
   * Brings changes of other nodes' leases into effect. The first call has all leases: whatever the kernel has of nodes
   * that are gone is removed. After a rejection it is called again, with the same leases in `leases` and no changes.
   */
  apply(change: LeaseChange): void | Promise<void>
  /** Restores what others removed or changed. Called after changes of the kernel's interfaces and routes, and often. */
  restore(): void | Promise<void>
  /** Ends threads and sockets; devices and routes remain, so that connections survive a restart of flannel. */
  stop(): void | Promise<void>
}

export interface Backend {
  /** In lower case, as in `Backend.Type`. */
  readonly type: string
  /** Prepares devices, and acquires the lease. Rejects with a sentence about what is wrong or missing. */
  register(context: BackendContext): Promise<BackendNetwork>
}
