/** Where a forwarder listens, which clients it serves, and to which targets it connects them. Plain data. */

/** Where a connection or a flow of packets goes. */
export interface Target {
  readonly address: string
  readonly port: number
}

export interface Listener {
  readonly protocol: 'TCP' | 'UDP'
  readonly address: string
  readonly port: number
  /** Listeners of one group choose targets in turn together, and clients stay with one target in all of them. */
  readonly group: string
  /** Time in ms after the last use for which a client stays with its target. Undefined: it does not. */
  readonly affinityMs?: number
  readonly targets: readonly Target[]
  /** Clients in these ranges have other targets. */
  readonly inside?: { readonly ranges: readonly string[]; readonly targets: readonly Target[] }
  /** Clients must be in a range of each list; the kernel drops packets of others. Undefined: all clients. */
  readonly allowed?: readonly (readonly string[])[]
  /** A local route has the address, and no interface. */
  readonly hasRoute?: boolean
}

/** `TCP 10.96.0.10 80`: a forwarder has one listener for each key. */
export const listenerKey = ({ protocol, address, port }: Pick<Listener, 'protocol' | 'address' | 'port'>): string =>
  `${protocol} ${address} ${port}`

/** A listener that could not be opened. */
export interface ListenerFailure {
  readonly key: string
  /** `EADDRINUSE`. */
  readonly code: string
}

/** To the thread of a forwarder. */
export type ForwarderCommand =
  | { readonly id: number; readonly set: readonly Listener[]; readonly removed: readonly string[] }
  | { readonly stop: true }

/** From the thread of a forwarder: its answer to the command of the id. */
export interface ForwarderReport {
  readonly id: number
  readonly failures: readonly ListenerFailure[]
}

/** `workerData` of the thread. */
export interface ForwarderStart {
  /** An eventfd that is written after each command. */
  readonly wake: number
}
