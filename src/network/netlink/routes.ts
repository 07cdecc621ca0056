/** Routes of the main table (rtnetlink(7)). */
import { addressFromBytes, addressToBytes, families, familyOf } from './address-bytes.ts'
import type { Link } from './links.ts'
import { attribute, decodeAttributes, flags, uint32 } from './message.ts'
import type { NetlinkSocket } from './netlink-socket.ts'

/** Messages about routes. */
export const routeTypes = { new: 24, delete: 25, get: 26 } as const
/** Attributes of a route. `source` is the address with which this machine uses it. */
export const routeAttributes = { destination: 1, outInterface: 4, gateway: 5, source: 7 } as const
/** Bytes before the attributes. */
export const routeSize = 12
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
      .dump('list routes', routeTypes.get, Buffer.alloc(routeSize))
      .filter((body) => body.readUInt8(4) === mainTable && body.readUInt8(7) === unicast)
      .map(decodeRoute)
  }

  /** @throws a `SystemCallError` with the code EEXIST if there is a route to the destination. */
  add({ name }: Pick<Link, 'name'>, route: Route): void {
    const way = route.gateway === undefined ? '' : ` via ${route.gateway}`
    const bits = flags.create | flags.exclusive
    this.#socket.change(`add a route to ${route.destination}${way} by ${name}`, routeTypes.new, bits, bodyOf(route))
  }

  remove({ name }: Pick<Link, 'name'>, route: Route): void {
    this.#socket.change(`remove the route to ${route.destination} by ${name}`, routeTypes.delete, 0, bodyOf(route))
  }
}

function bodyOf({ destination, gateway, link }: Route): Buffer {
  const [ip = '', prefix = ''] = destination.split('/')
  const fixed = Buffer.alloc(routeSize)
  fixed.writeUInt8(familyOf(ip), 0)
  fixed.writeUInt8(Number(prefix), 1)
  fixed.writeUInt8(mainTable, 4)
  fixed.writeUInt8(protocol, 5)
  fixed.writeUInt8(gateway === undefined ? scopes.link : scopes.global, 6)
  fixed.writeUInt8(unicast, 7)
  const body = [fixed, uint32(routeAttributes.outInterface, link)]
  if (Number(prefix) > 0) body.push(attribute(routeAttributes.destination, addressToBytes(ip)))
  if (gateway !== undefined) body.push(attribute(routeAttributes.gateway, addressToBytes(gateway)))
  return Buffer.concat(body)
}

function decodeRoute(body: Buffer): Route {
  const found = decodeAttributes(body, routeSize)
  const destination = found.get(routeAttributes.destination)
  const everything = body.readUInt8(0) === families.ipv4 ? '0.0.0.0' : '::'
  const gateway = found.get(routeAttributes.gateway)
  return {
    destination: `${destination ? addressFromBytes(destination) : everything}/${body.readUInt8(1)}`,
    gateway: gateway && addressFromBytes(gateway),
    link: found.get(routeAttributes.outInterface)?.readUInt32LE() ?? 0,
  }
}
