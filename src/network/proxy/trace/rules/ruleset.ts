/** Rules of packets in one form for iptables and nftables: conditions and actions that a trace can evaluate. */

export type Hook = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting'
export type Side = 'source' | 'destination'

/** A part of a packet that is looked up in a set or map. */
export type KeyField = Side | 'protocol' | 'port'

export type Condition = { readonly isNegated?: boolean } & (
  | { readonly kind: 'address'; readonly side: Side; readonly ranges: readonly string[] }
  | { readonly kind: 'protocol'; readonly names: readonly string[] }
  /** Destination ports, from and to. */
  | { readonly kind: 'port'; readonly ranges: readonly (readonly [number, number])[] }
  /** `cni0`, or the beginning of names: `veth*`. */
  | { readonly kind: 'interface'; readonly direction: 'in' | 'out'; readonly names: readonly string[] }
  /** An address of this machine. */
  | { readonly kind: 'local'; readonly side: Side }
  /** States of a connection: `new`, `established`, …; also `dnat`. */
  | { readonly kind: 'state'; readonly states: readonly string[] }
  | { readonly kind: 'mark'; readonly value: number; readonly mask: number }
  | { readonly kind: 'random'; readonly probability: number }
  /** The source used this endpoint before. */
  | { readonly kind: 'affinity'; readonly list: string; readonly seconds: number | undefined }
  /** Keys of several fields, joined by ` . `. */
  | { readonly kind: 'set'; readonly key: readonly KeyField[]; readonly elements: ReadonlySet<string> }
  | { readonly kind: 'unknown'; readonly text: string }
)

export type Action =
  | { readonly kind: 'jump' | 'goto'; readonly chain: string }
  | { readonly kind: 'accept' | 'drop' | 'reject' | 'return' | 'masquerade' }
  | { readonly kind: 'dnat'; readonly address: string; readonly port: number | undefined }
  /** The new mark is `(mark & ~clear) ^ flip`. */
  | { readonly kind: 'mark'; readonly clear: number; readonly flip: number }
  /** A verdict map: the action of the packet's key, if there is one. */
  | { readonly kind: 'lookup'; readonly key: readonly KeyField[]; readonly entries: ReadonlyMap<string, Action> }
  /** One of several, each with the same probability. */
  | { readonly kind: 'choose'; readonly choices: readonly Action[] }
  /** Ends in a way that a trace does not follow, such as a queue to a program. */
  | { readonly kind: 'unknown'; readonly text: string }

export interface Rule {
  /** As `iptables-save` prints it; for nftables, a short form. */
  readonly text: string
  readonly conditions: readonly Condition[]
  readonly actions: readonly Action[]
  /** Packets that matched. Undefined if the rule does not count. */
  readonly packets: number | undefined
  readonly comment: string | undefined
}

export interface Chain {
  readonly name: string
  readonly rules: readonly Rule[]
  /** Where the kernel calls it, lower priorities first. */
  readonly hook?: { readonly name: Hook; readonly priority: number; readonly isDroppedAtEnd: boolean } | undefined
}

/** A table with its chains. */
export interface Ruleset {
  /** `iptables (nft) nat`, `nftables ip kube-proxy`. */
  readonly name: string
  readonly chains: ReadonlyMap<string, Chain>
}
