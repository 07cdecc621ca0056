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
const kinds = { unicast: 1, blackhole: 6 } as const
/** RTNH_F_ONLINK: the gateway is reached by the interface although no address of the interface says so. */
const onlinkFlag = 0x4
/**
 * RTM_F_CLONED: what the kernel has learned about the way to one address, such as its smallest MTU. A dump has these
 * beside routes; they cannot be removed alone.
 */
const learnedFlag = 0x200
const scopes = { global: 0, link: 253 } as const

/** Written into a route, so that its origin shows: RTPROT_BOOT, as `ip route` does. */
const protocol = 3

export interface Route {
  /** `10.88.0.0/16`; `0.0.0.0/0` and `::/0` are the default routes. */
  readonly destination: string
  readonly gateway?: string | undefined
  /** Index of the interface. Of IPv4, a blackhole has none: 0. */
  readonly link: number
  /** True if the gateway needs no address of the interface's own network. */
  readonly isOnlink?: boolean | undefined
  /** True for a route that discards packets. */
  readonly isBlackhole?: boolean | undefined
}

/** The way of packets to an address. */
export interface FoundRoute extends Route {
  /** The address of this machine that they get. */
  readonly source: string | undefined
}

export class Routes {
  readonly #socket: NetlinkSocket

  constructor(socket: NetlinkSocket) {
    this.#socket = socket
  }

  /** Unicast routes of the main table, with one gateway. */
  list(): Route[] {
    return this.#listKind(kinds.unicast)
  }

  /** Routes of the main table that discard packets. */
  listBlackholes(): Route[] {
    return this.#listKind(kinds.blackhole)
  }

  /**
   * Returns the route of packets to an address, by all tables and rules.
   * @throws a `SystemCallError`: ENETUNREACH if there is none.
   */
  lookUp(address: string): FoundRoute {
    const fixed = Buffer.alloc(routeSize)
    const bytes = addressToBytes(address)
    fixed.set([familyOf(address), bytes.length * 8])
    const body = Buffer.concat([fixed, attribute(routeAttributes.destination, bytes)])
    const [found] = this.#socket.get(`look up the route to ${address}`, routeTypes.get, body)
    if (!found) throw new Error(`the kernel has no answer about the route to ${address}`)
    const source = decodeAttributes(found, routeSize).get(routeAttributes.source)
    return { ...decodeRoute(found), source: source && addressFromBytes(source) }
  }

  /** @throws a `SystemCallError` with the code EEXIST if there is a route to the destination. */
  add({ name }: Pick<Link, 'name'>, route: Route): void {
    this.#add(name, route, flags.create | flags.exclusive)
  }

  /** Adds the route; replaces one to the same destination in one step. */
  replace({ name }: Pick<Link, 'name'>, route: Route): void {
    this.#add(name, route, flags.create | flags.replace)
  }

  remove({ name }: Pick<Link, 'name'>, route: Route): void {
    this.#socket.change(`remove the route to ${route.destination} by ${name}`, routeTypes.delete, 0, bodyOf(route))
  }

  #listKind(kind: number): Route[] {
    return this.#socket
      .dump('list routes', routeTypes.get, Buffer.alloc(routeSize))
      .filter((body) => body.readUInt8(4) === mainTable && body.readUInt8(7) === kind)
      .filter((body) => (body.readUInt32LE(8) & learnedFlag) === 0)
      .map(decodeRoute)
  }

  #add(name: string, route: Route, bits: number): void {
    const way = route.gateway === undefined ? '' : ` via ${route.gateway}`
    this.#socket.change(`add a route to ${route.destination}${way} by ${name}`, routeTypes.new, bits, bodyOf(route))
  }
}

function bodyOf({ destination, gateway, link, isOnlink, isBlackhole }: Route): Buffer {
  const [ip = '', prefix = ''] = destination.split('/')
  const fixed = Buffer.alloc(routeSize)
  fixed.writeUInt8(familyOf(ip), 0)
  fixed.writeUInt8(Number(prefix), 1)
  fixed.writeUInt8(mainTable, 4)
  fixed.writeUInt8(protocol, 5)
  fixed.writeUInt8(gateway === undefined && !isBlackhole ? scopes.link : scopes.global, 6)
  fixed.writeUInt8(isBlackhole ? kinds.blackhole : kinds.unicast, 7)
  fixed.writeUInt32LE(isOnlink ? onlinkFlag : 0, 8)
  const body = isBlackhole ? [fixed] : [fixed, uint32(routeAttributes.outInterface, link)]
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
    ...((body.readUInt32LE(8) & onlinkFlag) !== 0 && { isOnlink: true }),
    ...(body.readUInt8(7) === kinds.blackhole && { isBlackhole: true }),
  }
}
