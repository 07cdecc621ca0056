/**
 * Checks that no other host on a bridge has an address before a pod takes it: probes of ARP (RFC 5227), and searches
 * for duplicates of IPv6 (RFC 4862). Both standards wait for a second; hosts on a bridge of this machine answer before
 * the kernel has sent the probe to all ports, so that a few milliseconds are enough: the pod's interface is made then.
 */
import { isIPv4 } from 'node:net'
import { SystemCallError } from '../../../lib/linux/c-library.ts'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import type { Link } from '../../netlink/links.ts'
import { neighbourFilter } from '../capture/packet-filter.ts'
import { PacketSocket } from '../capture/packet-socket.ts'
import { noAddress } from '../meaning/packet-kind.ts'
import { encodeIpv4Arp, operations } from '../wire/arp-packet.ts'
import { encodeFrame, etherTypes } from '../wire/ethernet-frame.ts'
import { broadcastAddress, noHardwareAddress } from '../wire/hardware-address.ts'
import { encodeAddressSearch } from '../wire/neighbour-message.ts'
import { claimOf } from './address-claim.ts'

/** An address that another host has. */
export interface AddressConflict {
  readonly address: string
  /** The hardware address of that host. */
  readonly hardware: string
}

/** `10.88.0.5 at 12:07:6b:be:20:d2, 10.88.0.6 at …`. */
export const conflictsText = (conflicts: readonly AddressConflict[]): string =>
  conflicts.map(({ address, hardware }) => `${address} at ${hardware}`).join(', ')

/** Time in ms from a probe until an answer is not waited for. */
const answerMs = 2
type Bridge = Pick<Link, 'index' | 'address'>

export class AddressCheck {
  readonly #calls: SystemCalls
  readonly #onProblem: (message: string) => void
  #open: { readonly link: number; readonly socket: PacketSocket } | undefined

  /** `onProblem` gets the reason why addresses are not probed. */
  constructor(calls: SystemCalls, onProblem: (message: string) => void) {
    this.#calls = calls
    this.#onProblem = onProblem
  }

  /**
   * Sends probes; the function that is returned waits for answers and returns them. If the kernel refuses them, the
   * addresses count as free.
   */
  probe(bridge: Bridge, addresses: readonly string[]): () => AddressConflict[] {
    const answersOf =
      this.#attempt(() => this.#send(bridge, addresses)) ?? this.#attempt(() => this.#send(bridge, addresses))
    return () => (answersOf && this.#attempt(answersOf)) ?? []
  }

  /** Returns undefined after an error, such as the end of the bridge: the next probe opens the socket again. */
  #attempt<Result>(run: () => Result): Result | undefined {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof SystemCallError)) throw error
      this.close()
      this.#onProblem(`addresses are not probed: ${error.message}`)
      return undefined
    }
  }

  #send(bridge: Bridge, addresses: readonly string[]): () => AddressConflict[] {
    const socket = this.#socketOf(bridge.index)
    while (socket.receive());
    for (const address of addresses) socket.send(bridge.index, probeOf(bridge.address, address))
    const deadline = performance.now() + answerMs
    return () => answers(socket, bridge, addresses, deadline)
  }

  /** Closes the socket, which takes the kernel some milliseconds; another probe opens it again. */
  close(): void {
    this.#open?.socket.close()
    this.#open = undefined
  }

  #socketOf(link: number): PacketSocket {
    if (this.#open?.link !== link) this.close()
    this.#open ??= { link, socket: PacketSocket.open({ calls: this.#calls, link, filter: neighbourFilter() }) }
    return this.#open.socket
  }
}

function answers(
  socket: PacketSocket,
  bridge: Bridge,
  addresses: readonly string[],
  deadline: number,
): AddressConflict[] {
  const found = new Map<string, string>()
  for (;;) {
    const frame = socket.receive()
    if (frame) {
      const claim = frame.isOutgoing ? undefined : claimOf(frame.bytes)
      if (claim && claim.hardware !== bridge.address && addresses.includes(claim.address))
        found.set(claim.address, claim.hardware)
      continue
    }
    const remaining = Math.ceil(deadline - performance.now())
    if (found.size === addresses.length || remaining <= 0 || !socket.wait(remaining)) break
  }
  return [...found].map(([address, hardware]) => ({ address, hardware }))
}

function probeOf(hardware: string, address: string): Buffer {
  if (!isIPv4(address)) return encodeAddressSearch(hardware, address)
  const payload = encodeIpv4Arp({
    operation: operations.request,
    senderHardware: hardware,
    senderAddress: noAddress,
    targetHardware: noHardwareAddress,
    targetAddress: address,
  })
  return encodeFrame({ destination: broadcastAddress, source: hardware, etherType: etherTypes.arp, payload })
}
