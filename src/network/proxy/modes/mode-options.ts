/** The options that every mode of kube-proxy gets: addresses of the node, local traffic, and a way to run programs. */
import type { RunProgram } from '../../iptables/iptables-programs.ts'
import type { IpFamily } from '../picture/service-port.ts'

/**
 * Recognizes connections that pods of this node make (`--detect-local-mode`). Connections to a cluster IP from
 * elsewhere are masqueraded. `none`: no connection is recognized, and none is masqueraded for that reason.
 */
export type LocalTraffic =
  /** From these ranges of pods: `ClusterCIDR`, or the node's own ranges (`NodeCIDR`). All of the mode's family. */
  | { readonly kind: 'cidrs'; readonly cidrs: readonly string[] }
  /** Arrived at this bridge: `BridgeInterface`. */
  | { readonly kind: 'bridge'; readonly name: string }
  /** Arrived at an interface whose name begins so: `InterfaceNamePrefix`. */
  | { readonly kind: 'interface-prefix'; readonly prefix: string }
  | { readonly kind: 'none' }

/** Where node ports are served (`--nodeport-addresses`). */
export interface NodePortAddresses {
  /** All addresses of this machine, also future ones; `addresses` has those of now. */
  readonly isAll: boolean
  /** Addresses of the mode's family, `127.0.0.1` only if it is selected. */
  readonly addresses: readonly string[]
}

/** Interfaces whose packets one of several clusters in one network namespace serves. */
export interface ServedInterfaces {
  /** The bridge of the cluster's own pods: always served. */
  readonly ownBridge: string
  /** Names of all clusters' bridges begin so: not served, except for the own one. All other interfaces are served. */
  readonly bridgePrefix: string
}

/** Settings of the mode `ipvs`. */
export interface IpvsSettings {
  /** `--ipvs-scheduler`: `rr`, `lc`, `sh`, …, the module `ip_vs_NAME`. */
  readonly scheduler: string
  /** `--ipvs-exclude-cidrs`: virtual servers with these addresses are left alone. */
  readonly excludedCidrs: readonly string[]
  /** `--ipvs-strict-arp`: the machine answers ARP requests only for addresses of the interface that gets them. */
  readonly strictArp: boolean
  /** `--ipvs-tcp-timeout` and so on, in seconds; 0 leaves the kernel's value. */
  readonly timeouts: { readonly tcp: number; readonly tcpFin: number; readonly udp: number }
}

export interface ModeOptions {
  readonly family: IpFamily
  /** The name of this node. */
  readonly node: string
  /** Reads the current addresses; changes of them cause a sync of `all`. */
  readonly nodePortAddresses: () => NodePortAddresses
  /** The node's own address in the family, for example for `primary`. Empty if unknown. */
  readonly nodeAddress: string
  readonly localTraffic: LocalTraffic
  /** Masquerades all connections to cluster IPs (`--masquerade-all`). */
  readonly masqueradeAll: boolean
  /**
   * Reads the ranges of all `ServiceCIDR` objects in the family; changes of them cause a sync of `all`. The mode
   * nftables drops packets to addresses in them that no Service has. Absent: it drops none for that reason.
   */
  readonly serviceCidrs?: () => readonly string[]
  /** The bit of the packet mark that selects packets to masquerade, 0 to 31. Default of kube-proxy: 14. */
  readonly masqueradeBit: number
  /** Node ports also serve connections to loopback (`--iptables-localhost-nodeports`); only some modes can. */
  readonly localhostNodePorts: boolean
  /** Absent: the defaults of kube-proxy. */
  readonly ipvs?: IpvsSettings | undefined
  /** Undefined: this proxy is alone in its network namespace, and serves packets of all interfaces. */
  readonly servedInterfaces: ServedInterfaces | undefined
  /** The hash of the cluster: its nftables table is `t8s_proxy_HASH`. Undefined: `kube-proxy`. */
  readonly instance: string | undefined
  readonly runProgram: RunProgram
  readonly log: (line: string) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}
