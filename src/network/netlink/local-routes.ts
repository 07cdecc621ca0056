/**
 * Routes that make ranges local without an interface that has their addresses (`ip route add local RANGE dev lo`):
 * sockets can be bound to each address, and packets to them are delivered on this machine.
 */
import { addressFromBytes, addressToBytes, familyOf } from './address-bytes.ts'
import { attribute, decodeAttributes, flags, uint32 } from './message.ts'
import type { NetlinkSocket } from './netlink-socket.ts'
import { routeAttributes, routeSize, routeTypes } from './routes.ts'

const localTable = 255
const localType = 2
const hostScope = 254
/** Written into the routes as their origin, of the numbers that nobody has registered: only these are listed. */
const protocol = 116

export interface LocalRoute {
  /** `10.96.0.0/16`. */
  readonly destination: string
  /** The address from which this machine connects to it. Default: the address that it connects to. */
  readonly source?: string
}

export class LocalRoutes {
  readonly #socket: NetlinkSocket
  /** The index of the interface `lo`. */
  readonly #loopback: number

  constructor(socket: NetlinkSocket, loopback: number) {
    this.#socket = socket
    this.#loopback = loopback
  }

  /** Destinations of the routes of a family that were added here, by this or another process. */
  list(family: 4 | 6): string[] {
    const fixed = Buffer.alloc(routeSize)
    fixed.writeUInt8(familyOf(family === 4 ? '0.0.0.0' : '::'), 0)
    return this.#socket
      .dump('list local routes', routeTypes.get, fixed)
      .filter((body) => body[4] === localTable && body[5] === protocol && body[7] === localType)
      .flatMap((body) => {
        const bytes = decodeAttributes(body, routeSize).get(routeAttributes.destination)
        return bytes ? [`${addressFromBytes(bytes)}/${body[1]}`] : []
      })
  }

  /** @throws a `SystemCallError`: EEXIST if there is a local route to the destination, EPERM without the capability. */
  add(route: LocalRoute): void {
    const bits = flags.create | flags.exclusive
    this.#socket.change(`add a local route to ${route.destination}`, routeTypes.new, bits, this.#bodyOf(route))
  }

  remove(destination: string): void {
    this.#socket.change(`remove the local route to ${destination}`, routeTypes.delete, 0, this.#bodyOf({ destination }))
  }

  #bodyOf({ destination, source }: LocalRoute): Buffer {
    const [ip = '', prefix = ''] = destination.split('/')
    const fixed = Buffer.alloc(routeSize)
    fixed.set([familyOf(ip), Number(prefix), 0, 0, localTable, protocol, hostScope, localType])
    const body = [
      fixed,
      attribute(routeAttributes.destination, addressToBytes(ip)),
      uint32(routeAttributes.outInterface, this.#loopback),
    ]
    if (source !== undefined) body.push(attribute(routeAttributes.source, addressToBytes(source)))
    return Buffer.concat(body)
  }
}
