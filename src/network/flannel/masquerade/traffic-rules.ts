/** Rules for packets of the network: which keep their source, and that the machine forwards them. */

export interface TrafficRulesOptions {
  readonly family: 4 | 6
  /** `10.244.0.0/16`. */
  readonly network: string
  /** This node's part of it: `10.244.1.0/24`. */
  readonly subnet: string
  /** True to give packets that leave the network the node's address: `--ip-masq`. */
  readonly masquerade: boolean
  /** True to let the machine forward packets from and to the network: `--iptables-forward-rules`. */
  readonly forward: boolean
  /** False to choose ports in order: `--ip-masq-fully-random-disable`. */
  readonly randomFully: boolean
}

export interface TrafficRules {
  /** Writes the rules if any is missing or different. Returns true if it wrote them. Rejects with the reason. */
  ensure(): Promise<boolean>
  /** Removes the rules. Succeeds if there are none. */
  remove(): Promise<void>
}

/** Multicast packets keep their source. */
export const multicast = { 4: '224.0.0.0/4', 6: 'ff00::/8' } as const

/** The mark of packets that kube-proxy masquerades itself. */
export const proxyMark = '0x4000'
