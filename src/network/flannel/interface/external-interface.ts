/** The interface by which this node reaches the others. */

export interface ExternalInterface {
  readonly name: string
  readonly index: number
  /** In bytes. */
  readonly mtu: number
  /** The interface's own addresses. */
  readonly address: string | undefined
  readonly ipv6Address: string | undefined
  /** The addresses by which others reach this node: `--public-ip`, by default those of the interface. */
  readonly publicIP: string | undefined
  readonly publicIPv6: string | undefined
}
