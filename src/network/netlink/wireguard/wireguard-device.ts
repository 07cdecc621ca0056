/** A device of WireGuard: its key, its port and its peers, however it is reached (wireguard.com/xplatform). */

export interface WireguardPeer {
  /** 32 bytes. */
  readonly publicKey: Buffer
  /** Undefined: none, in what is set; it is not read. */
  readonly presharedKey?: Buffer | undefined
  /** The address and the port of the peer. */
  readonly endpoint?: { readonly address: string; readonly port: number } | undefined
  /** Seconds between packets that keep a way through NAT open; 0: none. */
  readonly keepaliveSeconds: number
  /** Ranges whose packets go to the peer, and which its packets may come from. */
  readonly allowedIPs: readonly string[]
}

/** The state of a device, as it is read. */
export interface WireguardState {
  /** Undefined for a new device. */
  readonly publicKey: Buffer | undefined
  readonly listenPort: number
  readonly peers: readonly WireguardPeer[]
}

/** A peer as it is set. While its ranges are replaced, the kernel discards its packets for a moment. */
export interface PeerChange extends Omit<WireguardPeer, 'allowedIPs'> {
  /** Undefined: those of the device remain. */
  readonly allowedIPs?: readonly string[] | undefined
}

export interface WireguardChange {
  readonly privateKey?: Buffer | undefined
  readonly listenPort?: number | undefined
  /** Peers that are added or changed. Others remain. */
  readonly peers?: readonly PeerChange[] | undefined
  /** Public keys of peers that are removed. */
  readonly removed?: readonly Buffer[] | undefined
}

export interface WireguardDevice {
  read(): Promise<WireguardState>
  change(change: WireguardChange): Promise<void>
}
