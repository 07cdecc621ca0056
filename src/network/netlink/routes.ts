/** Routes of the main table (rtnetlink(7)). */
import { addressFromBytes, addressToBytes, families, familyOf } from './address-bytes.ts'
import type { Link } from './links.ts'
import { attribute, decodeAttributes, flags, uint32 } from './message.ts'
import type { NetlinkSocket } from './netlink-socket.ts'

const types = { new: 24, delete: 25, get: 26 } as const
const attributes = { destination: 1, outInterface: 4, gateway: 5 } as const
const fixedSize = 12
const mainTable = 254
const unicast = 1
const scopes = { global: 0, link: 253 } as const

/** Written into a route, so that its origin shows: RTPROT_BOOT, as `ip route` does. */
const protocol = 3

export interface Route {
  /** `10.88.0.0/16`; `0.0.0.0/0` and `::/0` are the default routes. */
  readonly destination: string
  readonly gateway?: string | undefined
  /** Index of the interface. */
  readonly link: number
}

export class Routes {
  readonly #socket: NetlinkSocket

  constructor(socket: NetlinkSocket) {
    this.#socket = socket
  }

  /** Unicast routes of the main table. */
  list(): Route[] {
    return this.#socket
      .dump('list routes', types.get, Buffer.alloc(fixedSize))
      .filter((body) => body.readUInt8(4) === mainTable && body.readUInt8(7) === unicast)
      .map(decodeRoute)
  }

  /** @throws a `SystemCallError` with the code EEXIST if there is a route to the destination. */
  add({ name }: Pick<Link, 'name'>, route: Route): void {
    const way = route.gateway === undefined ? '' : ` via ${route.gateway}`
    const bits = flags.create | flags.exclusive
    this.#socket.change(`add a route to ${route.destination}${way} by ${name}`, types.new, bits, bodyOf(route))
  }

  remove({ name }: Pick<Link, 'name'>, route: Route): void {
    this.#socket.change(`remove the route to ${route.destination} by ${name}`, types.delete, 0, bodyOf(route))
  }
}

function bodyOf({ destination, gateway, link }: Route): Buffer {
  const [ip = '', prefix = ''] = destination.split('/')
  const fixed = Buffer.alloc(fixedSize)
  fixed.writeUInt8(familyOf(ip), 0)
  fixed.writeUInt8(Number(prefix), 1)
  fixed.writeUInt8(mainTable, 4)
  fixed.writeUInt8(protocol, 5)
  fixed.writeUInt8(gateway === undefined ? scopes.link : scopes.global, 6)
  fixed.writeUInt8(unicast, 7)
  const body = [fixed, uint32(attributes.outInterface, link)]
  if (Number(prefix) > 0) body.push(attribute(attributes.destination, addressToBytes(ip)))
  if (gateway !== undefined) body.push(attribute(attributes.gateway, addressToBytes(gateway)))
  return Buffer.concat(body)
}

function decodeRoute(body: Buffer): Route {
  const found = decodeAttributes(body, fixedSize)
  const destination = found.get(attributes.destination)
  const everything = body.readUInt8(0) === families.ipv4 ? '0.0.0.0' : '::'
  const gateway = found.get(attributes.gateway)
  return {
    destination: `${destination ? addressFromBytes(destination) : everything}/${body.readUInt8(1)}`,
    gateway: gateway && addressFromBytes(gateway),
    link: found.get(attributes.outInterface)?.readUInt32LE() ?? 0,
  }
}
