/** IP addresses of interfaces (rtnetlink(7)). */
import { addressFromBytes, addressToBytes, families, familyOf } from './address-bytes.ts'
import type { Link } from './links.ts'
import { attribute, decodeAttributes, flags, uint32 } from './message.ts'
import type { NetlinkSocket } from './netlink-socket.ts'

const types = { new: 20, delete: 21, get: 22 } as const
const attributes = { address: 1, local: 2, flags: 8 } as const
const fixedSize = 8

/** IFA_F_NODAD: an IPv6 address is usable at once, without a search for duplicates. */
const withoutSearch = 0x2

export interface InterfaceAddress {
  /** Index of the interface. */
  readonly link: number
  /** `10.88.0.1/16`. */
  readonly address: string
}

export class Addresses {
  readonly #socket: NetlinkSocket

  constructor(socket: NetlinkSocket) {
    this.#socket = socket
  }

  list(): InterfaceAddress[] {
    return this.#socket.dump('list addresses', types.get, Buffer.alloc(fixedSize)).map(decodeAddress)
  }

  /** Adds `10.88.0.1/16`. @throws a `SystemCallError` with the code EEXIST if the interface has the address. */
  add({ index, name }: Pick<Link, 'index' | 'name'>, address: string): void {
    const bits = flags.create | flags.exclusive
    this.#socket.change(`add the address ${address} to ${name}`, types.new, bits, bodyOf(index, address))
  }

  remove({ index, name }: Pick<Link, 'index' | 'name'>, address: string): void {
    this.#socket.change(`remove the address ${address} from ${name}`, types.delete, 0, bodyOf(index, address))
  }
}

function bodyOf(link: number, address: string): Buffer {
  const [ip = '', prefix = ''] = address.split('/')
  const fixed = Buffer.alloc(fixedSize)
  fixed.writeUInt8(familyOf(ip), 0)
  fixed.writeUInt8(Number(prefix), 1)
  fixed.writeUInt32LE(link, 4)
  const bytes = addressToBytes(ip)
  const body = [fixed, attribute(attributes.local, bytes), attribute(attributes.address, bytes)]
  if (familyOf(ip) === families.ipv6) body.push(uint32(attributes.flags, withoutSearch))
  return Buffer.concat(body)
}

function decodeAddress(body: Buffer): InterfaceAddress {
  const found = decodeAttributes(body, fixedSize)
  const bytes = found.get(attributes.local) ?? found.get(attributes.address) ?? Buffer.alloc(4)
  return { link: body.readUInt32LE(4), address: `${addressFromBytes(bytes)}/${body.readUInt8(1)}` }
}
