/** A pod's connection to a network, and its result (CNI specification 1.1). */

export interface HostPort {
  readonly hostPort: number
  readonly containerPort: number
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  /** An address of the host; by default all of them. */
  readonly hostIP?: string
}

/** The object of a pod. */
export interface PodReference {
  readonly name: string
  readonly namespace: string
  readonly uid: string
}

/** The interface of a pod that is added or removed. */
export interface Attachment {
  /** Id of the sandbox. */
  readonly id: string
  /** File of the pod's network namespace. */
  readonly namespace: string
  /** `eth0`. */
  readonly interfaceName: string
  readonly hostPorts?: readonly HostPort[]
  /** The pod, if its addresses are watched by its record. */
  readonly pod?: PodReference | undefined
  /** Addresses that the pod asks for. */
  readonly requestedAddresses?: readonly string[]
}

/** The result of CNI's ADD, without its version. */
export interface NetworkResult {
  readonly interfaces: readonly {
    readonly name: string
    readonly mac: string
    readonly mtu?: number
    /** File of the namespace; absent for interfaces of the host. */
    readonly sandbox?: string
  }[]
  readonly ips: readonly {
    /** Index of the interface in `interfaces`. */
    readonly interface: number
    /** `10.88.0.5/16`. */
    readonly address: string
    readonly gateway?: string
  }[]
  readonly routes: readonly { readonly dst: string; readonly gw?: string }[]
  readonly dns: Readonly<Record<string, never>>
}
