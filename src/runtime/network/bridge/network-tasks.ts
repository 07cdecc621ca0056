/** Messages between the runtime and the thread that changes interfaces, addresses and rules. */
import type { AddressConflict } from '../../../network/arp/check/address-check.ts'
import type { Attachment } from '../../../network/cni/attachment.ts'
import type { NetworkResult } from '../network-result.ts'

/** A network of pods. */
export interface NetworkSettings {
  /** The name of the bridge. */
  readonly bridge: string
  /** The ranges of addresses, of which a pod gets one each: `10.244.1.0/24`. */
  readonly ranges: readonly string[]
  /** Ranges of pods that were connected before the node got other ones. */
  readonly formerRanges: readonly string[]
  /** The size of packets of pods in bytes. Default: that of the interface of the default route. */
  readonly mtu?: number | undefined
  /** Destinations that see the addresses of pods. */
  readonly notMasqueraded: readonly string[]
  /** The folder of addresses and records, which a reboot removes. */
  readonly folder: string
}

export type NetworkTask =
  | { readonly kind: 'connect'; readonly settings: NetworkSettings; readonly attachment: Attachment }
  | { readonly kind: 'disconnect'; readonly settings: NetworkSettings; readonly id: string }
  /** Disconnects all pods but these. */
  | { readonly kind: 'retain'; readonly settings: NetworkSettings; readonly ids: readonly string[] }
  /** Lets a pod reach itself by its loopback interface. */
  | { readonly kind: 'loopback'; readonly namespaceFile: string }
  /** Closes what is open, before the thread ends. */
  | { readonly kind: 'close' }

export interface NetworkOutcome {
  /** Of `connect`. */
  readonly result?: NetworkResult
  /** Of `connect`: addresses that the pod did not get, as other hosts have them. */
  readonly conflicts?: readonly AddressConflict[]
  /** Of `connect`: the reason why addresses were not probed. */
  readonly problem?: string
  /** True if no pod is connected any more: the bridge and the rules are removed. */
  readonly isUnused?: boolean
}

export type NetworkReport = { readonly done: NetworkOutcome } | { readonly failed: string }

/** The interface of a pod, as with plug-ins. */
export const interfaceName = 'eth0'
