/** Reads and changes the virtual services of the kernel, in the network namespace of the thread. */
import { SystemCallError } from '../../../lib/linux/c-library.ts'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { familyOf } from '../address-bytes.ts'
import { findFamily, genericAttributes, genericBody } from '../generic-family.ts'
import { uint32 } from '../message.ts'
import { NetlinkSocket, protocols } from '../netlink-socket.ts'
import {
  addressText,
  decodeServer,
  decodeService,
  encodeServer,
  encodeService,
  type FoundServer,
  type RealServer,
  type ServiceAddress,
  serverKey,
  serviceKey,
  serviceText,
  type VirtualService,
} from './virtual-service.ts'

/** Seconds after which idle connections end; 0 leaves the kernel's value. */
export interface ConnectionTimeouts {
  readonly tcp: number
  readonly tcpFin: number
  readonly udp: number
}

/** IPVS, as a mode of kube-proxy uses it. */
export interface Ipvs {
  services(): VirtualService[]
  /** Undefined if there is none. */
  service(address: ServiceAddress): VirtualService | undefined
  addService(service: VirtualService): void
  changeService(service: VirtualService): void
  /** Its connections end with their next packet. Does nothing if there is none. */
  removeService(address: ServiceAddress): void
  /** Empty if the service does not exist. */
  servers(address: ServiceAddress): FoundServer[]
  addServer(address: ServiceAddress, server: RealServer): void
  changeServer(address: ServiceAddress, server: RealServer): void
  /** Does nothing if there is none. */
  removeServer(address: ServiceAddress, server: Pick<RealServer, 'address' | 'port'>): void
  setTimeouts(timeouts: ConnectionTimeouts): void
}

const familyName = 'IPVS'
const version = 1
const commands = {
  newService: 1,
  setService: 2,
  deleteService: 3,
  getService: 4,
  newServer: 5,
  setServer: 6,
  deleteServer: 7,
  getServer: 8,
  setConfig: 12,
} as const
const attributes = { service: 1, server: 2, tcp: 4, tcpFin: 5, udp: 6 } as const

/** The kernel's codes for services and servers that do not exist. */
const isMissing = (error: unknown): boolean =>
  error instanceof SystemCallError && (error.code === 'ESRCH' || error.code === 'ENOENT')

export class IpvsSocket implements Ipvs {
  readonly #socket: NetlinkSocket
  readonly #type: number

  private constructor(socket: NetlinkSocket, type: number) {
    this.#socket = socket
    this.#type = type
  }

  /** @throws a `SystemCallError` with the code ENOENT if the kernel has no IPVS: its module is not loaded. */
  static open(calls: SystemCalls): IpvsSocket {
    const socket = NetlinkSocket.open(calls, undefined, protocols.generic)
    try {
      return new IpvsSocket(socket, findFamily(socket, familyName))
    } catch (error) {
      socket.close()
      throw error
    }
  }

  close(): void {
    this.#socket.close()
  }

  services(): VirtualService[] {
    return this.#decodeServices(this.#socket.dump('list virtual services', ...this.#request(commands.getService)))
  }

  service(address: ServiceAddress): VirtualService | undefined {
    const request = this.#request(commands.getService, serviceKey(attributes.service, address))
    const found = orIfMissing([], () =>
      this.#socket.get(`read the virtual service ${serviceText(address)}`, ...request),
    )
    return this.#decodeServices(found)[0]
  }

  addService(service: VirtualService): void {
    this.#change(`add ${nameOf(service)}`, commands.newService, encodeService(attributes.service, service))
  }

  changeService(service: VirtualService): void {
    this.#change(`change ${nameOf(service)}`, commands.setService, encodeService(attributes.service, service))
  }

  removeService(address: ServiceAddress): void {
    const key = serviceKey(attributes.service, address)
    orIfMissing(undefined, () =>
      this.#change(`remove the virtual service ${serviceText(address)}`, commands.deleteService, key),
    )
  }

  servers(address: ServiceAddress): FoundServer[] {
    const request = this.#request(commands.getServer, serviceKey(attributes.service, address))
    const found = orIfMissing([], () => this.#socket.dump(`list servers of ${serviceText(address)}`, ...request))
    return found.flatMap((body) => {
      const value = genericAttributes(body).get(attributes.server)
      return value ? [decodeServer(value, familyOf(address.address))] : []
    })
  }

  addServer(address: ServiceAddress, server: RealServer): void {
    this.#changeServer('add', commands.newServer, address, encodeServer(attributes.server, server), server)
  }

  changeServer(address: ServiceAddress, server: RealServer): void {
    this.#changeServer('change', commands.setServer, address, encodeServer(attributes.server, server), server)
  }

  removeServer(address: ServiceAddress, server: Pick<RealServer, 'address' | 'port'>): void {
    const key = serverKey(attributes.server, server)
    orIfMissing(undefined, () => this.#changeServer('remove', commands.deleteServer, address, key, server))
  }

  setTimeouts({ tcp, tcpFin, udp }: ConnectionTimeouts): void {
    const times = [uint32(attributes.tcp, tcp), uint32(attributes.tcpFin, tcpFin), uint32(attributes.udp, udp)]
    this.#change('set the timeouts of IPVS', commands.setConfig, ...times)
  }

  #changeServer(
    verb: string,
    command: number,
    address: ServiceAddress,
    encoded: Buffer,
    server: Pick<RealServer, 'address' | 'port'>,
  ): void {
    const what = `${verb} the server ${addressText(server)} of ${serviceText(address)}`
    this.#change(what, command, serviceKey(attributes.service, address), encoded)
  }

  #change(what: string, command: number, ...parts: readonly Buffer[]): void {
    this.#socket.change(what, this.#type, 0, genericBody(command, version, parts))
  }

  #request(command: number, ...parts: readonly Buffer[]): readonly [type: number, body: Buffer] {
    return [this.#type, genericBody(command, version, parts)]
  }

  #decodeServices(bodies: readonly Buffer[]): VirtualService[] {
    return bodies.flatMap((body) => {
      const value = genericAttributes(body).get(attributes.service)
      return (value && decodeService(value)) ?? []
    })
  }
}

const nameOf = (service: VirtualService): string =>
  `the virtual service ${serviceText(service)} with the scheduler ${service.scheduler}`

function orIfMissing<Result>(result: Result, action: () => Result): Result {
  try {
    return action()
  } catch (error) {
    if (isMissing(error)) return result
    throw error
  }
}
