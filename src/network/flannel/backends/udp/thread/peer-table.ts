/** Finds the node to which a packet goes, by its destination. */
import { parseCidr } from '../../../../../lib/cidr.ts'
import type { Peer } from '../carrier-messages.ts'
import { socketAddress } from '../udp-socket.ts'

interface Prefix {
  readonly mask: number
  /** By the network's number, `struct sockaddr_in` of the node. */
  readonly nodes: ReadonlyMap<number, Buffer>
}

export class PeerTable {
  /** The longest first. */
  #prefixes: readonly Prefix[] = []
  #last = -1
  #lastNode: Buffer | undefined

  /** Replaces all peers. Those whose subnet is no IPv4 range are left out. */
  set(peers: readonly Peer[]): void {
    const byLength = new Map<number, Map<number, Buffer>>()
    for (const { subnet, address, port } of peers) {
      const range = parseCidr(subnet)
      if (range?.family !== 4) continue
      const nodes = byLength.get(range.prefix) ?? new Map<number, Buffer>()
      byLength.set(range.prefix, nodes)
      nodes.set(masked(Number(range.base), maskOf(range.prefix)), socketAddress(address, port))
    }
    this.#prefixes = [...byLength]
      .sort(([one], [other]) => other - one)
      .map(([length, nodes]) => ({ mask: maskOf(length), nodes }))
    this.#last = -1
  }

  /** Returns `struct sockaddr_in` of the node that has an address (a number); undefined if none has it. */
  find(destination: number): Buffer | undefined {
    // Packets come in sequences to one destination.
    if (destination === this.#last) return this.#lastNode
    this.#last = destination
    this.#lastNode = undefined
    for (const { mask, nodes } of this.#prefixes) {
      this.#lastNode = nodes.get(masked(destination, mask))
      if (this.#lastNode) break
    }
    return this.#lastNode
  }
}

const maskOf = (length: number): number => (length === 0 ? 0 : (-1 << (32 - length)) >>> 0)
const masked = (address: number, mask: number): number => (address & mask) >>> 0
