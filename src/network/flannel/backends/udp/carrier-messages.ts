/** Messages to and from the thread of the backend udp. */

/** Another node: packets to addresses of the subnet go to its address and port. */
export interface Peer {
  /** `10.244.1.0/24`. */
  readonly subnet: string
  /** `192.168.33.102`. */
  readonly address: string
  readonly port: number
}

export type CarrierCommand = { readonly peers: readonly Peer[] } | { readonly stop: true }

export interface CarrierReport {
  /** A sentence about packets that were lost. */
  readonly problem: string
}

/** `workerData` of the thread. */
export interface CarrierStart {
  /** Descriptors: a TUN device that does not block, a bound UDP socket, an eventfd that is written for a command. */
  readonly tun: number
  readonly socket: number
  readonly wake: number
  /** In bytes. */
  readonly mtu: number
}
