/**
 * Neighbours of interfaces (rtnetlink(7)): which MAC address an IP address has (ARP, NDP), and behind which IP address
 * a MAC address is (the forwarding database of a vxlan).
 */
import { addressFromBytes, addressToBytes, familyOf } from './address-bytes.ts'
import { type Link, macBytes, macText } from './links.ts'
import { attribute, decodeAttributes, flags } from './message.ts'
import type { NetlinkSocket } from './netlink-socket.ts'

const types = { new: 28, delete: 29, get: 30 } as const
const attributes = { destination: 1, linkAddress: 2 } as const
const fixedSize = 12
/** AF_BRIDGE. */
const bridgeFamily = 7
/** NUD_PERMANENT: no expiry, no probes. */
const permanent = 0x80
/** NTF_SELF: the entry is of the interface itself, not of its bridge. */
const self = 0x2

export interface Neighbor {
  /** Index of the interface. */
  readonly link: number
  /** Of ARP and NDP the neighbour's address; of a forwarding database the address of the host behind which it is. */
  readonly ip: string
  /** `0a:58:0a:58:00:01`. */
  readonly mac: string
  readonly isPermanent: boolean
}

type NewNeighbor = Omit<Neighbor, 'isPermanent'>
type Device = Pick<Link, 'index' | 'name'>

export class Neighbors {
  readonly #socket: NetlinkSocket

  constructor(socket: NetlinkSocket) {
    this.#socket = socket
  }

  /** Entries of ARP and NDP of an interface that have a MAC address. */
  list({ index, name }: Device): Neighbor[] {
    return this.#dump(`list the neighbours of ${name}`, 0, index)
  }

  /** Adds a permanent entry, or replaces the one of the address. */
  set({ name }: Device, neighbor: NewNeighbor): void {
    const bits = flags.create | flags.replace
    this.#socket.change(`set the MAC address of ${neighbor.ip} on ${name}`, types.new, bits, bodyOf(neighbor))
  }

  /** @throws a `SystemCallError` with the code ENOENT if there is none. */
  remove({ name }: Device, neighbor: NewNeighbor): void {
    this.#socket.change(`remove the MAC address of ${neighbor.ip} on ${name}`, types.delete, 0, bodyOf(neighbor))
  }

  /** Entries of the forwarding database of a vxlan that have a destination. */
  listForwarding({ index, name }: Device): Neighbor[] {
    return this.#dump(`list the forwarding database of ${name}`, bridgeFamily, index)
  }

  /** Adds a permanent entry, or replaces the one of the MAC address. */
  setForwarding({ name }: Device, neighbor: NewNeighbor): void {
    const body = forwardingBody(neighbor)
    const what = `set the host of ${neighbor.mac} on ${name}`
    this.#socket.change(what, types.new, flags.create | flags.replace, body)
  }

  /** @throws a `SystemCallError` with the code ENOENT if there is none. */
  removeForwarding({ name }: Device, neighbor: NewNeighbor): void {
    this.#socket.change(`remove the host of ${neighbor.mac} on ${name}`, types.delete, 0, forwardingBody(neighbor))
  }

  #dump(what: string, family: number, index: number): Neighbor[] {
    const fixed = fixedPart({ family, index: family === bridgeFamily ? 0 : index })
    return this.#socket
      .dump(what, types.get, fixed)
      .map(decodeNeighbor)
      .filter((one): one is Neighbor => one !== undefined && one.link === index)
  }
}

interface FixedPart {
  readonly family: number
  readonly index: number
  readonly state?: number
  readonly flagBits?: number
}

/** `struct ndmsg`. */
function fixedPart({ family, index, state = 0, flagBits = 0 }: FixedPart): Buffer {
  const bytes = Buffer.alloc(fixedSize)
  bytes.writeUInt8(family, 0)
  bytes.writeInt32LE(index, 4)
  bytes.writeUInt16LE(state, 8)
  bytes.writeUInt8(flagBits, 10)
  return bytes
}

const pair = ({ ip, mac }: NewNeighbor): Buffer[] => [
  attribute(attributes.destination, addressToBytes(ip)),
  attribute(attributes.linkAddress, macBytes(mac)),
]

const bodyOf = (neighbor: NewNeighbor): Buffer =>
  Buffer.concat([
    fixedPart({ family: familyOf(neighbor.ip), index: neighbor.link, state: permanent }),
    ...pair(neighbor),
  ])

const forwardingBody = (neighbor: NewNeighbor): Buffer =>
  Buffer.concat([
    fixedPart({ family: bridgeFamily, index: neighbor.link, state: permanent, flagBits: self }),
    ...pair(neighbor),
  ])

function decodeNeighbor(body: Buffer): Neighbor | undefined {
  const found = decodeAttributes(body, fixedSize)
  const [ip, mac] = [found.get(attributes.destination), found.get(attributes.linkAddress)]
  if (!ip || !mac || (ip.length !== 4 && ip.length !== 16)) return undefined
  return {
    link: body.readInt32LE(4),
    ip: addressFromBytes(ip),
    mac: macText(mac),
    isPermanent: (body.readUInt16LE(8) & permanent) !== 0,
  }
}
