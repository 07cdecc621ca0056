/** Virtual services of IPVS and their servers, and their attributes (linux/ip_vs.h). Ports are in network order. */
import { isIPv4 } from 'node:net'
import { addressFromBytes, addressToBytes, families, familyOf } from '../address-bytes.ts'
import { attribute, decodeAttributes, nested, text, textOf, uint16, uint32 } from '../message.ts'

export type IpvsProtocol = 'TCP' | 'UDP' | 'SCTP'

/** Where clients send. */
export interface ServiceAddress {
  readonly protocol: IpvsProtocol
  readonly address: string
  readonly port: number
}

export interface VirtualService extends ServiceAddress {
  /** `rr`, `wlc`, …: the module `ip_vs_NAME`. */
  readonly scheduler: string
  /** Seconds for which a client stays with its server. Undefined: each connection is scheduled by itself. */
  readonly persistenceSeconds: number | undefined
  /** The scheduler `mh` also uses the port of the client. */
  readonly hashesPorts: boolean
}

/** A server to which connections are translated. */
export interface RealServer {
  readonly address: string
  readonly port: number
  /** 0: it gets no new connections. */
  readonly weight: number
}

/** A server that the kernel has. */
export interface FoundServer extends RealServer {
  /** Connections in any state, also those that wait after their end. */
  readonly connections: number
}

const service = {
  family: 1,
  protocol: 2,
  address: 3,
  port: 4,
  mark: 5,
  scheduler: 6,
  flags: 7,
  timeout: 8,
  netmask: 9,
} as const
const server = {
  address: 1,
  port: 2,
  forwarding: 3,
  weight: 4,
  upperLimit: 5,
  lowerLimit: 6,
  active: 7,
  inactive: 8,
  family: 11,
} as const
const numbers = { TCP: 6, UDP: 17, SCTP: 132 } as const satisfies Record<IpvsProtocol, number>
const flagBits = { persistent: 0x1, onePacket: 0x4, scheduler: 0x38, mhPort: 0x10 } as const
const ownFlags = flagBits.persistent | flagBits.onePacket | flagBits.scheduler
const masquerade = 0
const addressSize = 16

/** `TCP 10.96.0.1:443`, which identifies a virtual service. */
export const serviceText = ({ protocol, address, port }: ServiceAddress): string =>
  `${protocol} ${addressText({ address, port })}`

/** `10.244.0.7:80` or `[fd00::7]:80`. */
export const addressText = ({ address, port }: Pick<RealServer, 'address' | 'port'>): string =>
  isIPv4(address) ? `${address}:${port}` : `[${address}]:${port}`

/** The attributes that identify a service. */
export const serviceKey = (type: number, found: ServiceAddress): Buffer => nested(type, ...keyParts(found))

/** All attributes of a service. */
export function encodeService(type: number, found: VirtualService): Buffer {
  const flags = Buffer.alloc(8)
  const persistent = found.persistenceSeconds === undefined ? 0 : flagBits.persistent
  flags.writeUInt32LE(persistent | (found.hashesPorts ? flagBits.mhPort : 0), 0)
  flags.writeUInt32LE(ownFlags, 4)
  return nested(
    type,
    ...keyParts(found),
    text(service.scheduler, found.scheduler),
    attribute(service.flags, flags),
    uint32(service.timeout, found.persistenceSeconds ?? 0),
    // Each client by itself. IPv6 has the length of a prefix here.
    uint32(service.netmask, isIPv4(found.address) ? 0xffffffff : 128),
  )
}

/** Undefined for services that a mark of packets selects, and other protocols. */
export function decodeService(value: Buffer): VirtualService | undefined {
  const found = decodeAttributes(value)
  const number = found.get(service.protocol)?.readUInt16LE()
  const protocol = (['TCP', 'UDP', 'SCTP'] as const).find((name) => numbers[name] === number)
  const address = found.get(service.address)
  if (found.has(service.mark) || !protocol || !address) return undefined
  const flags = found.get(service.flags)?.readUInt32LE() ?? 0
  return {
    protocol,
    address: decodeAddress(address, found.get(service.family)?.readUInt16LE()),
    port: found.get(service.port)?.readUInt16BE() ?? 0,
    scheduler: textOf(found.get(service.scheduler)),
    persistenceSeconds: flags & flagBits.persistent ? found.get(service.timeout)?.readUInt32LE() : undefined,
    hashesPorts: (flags & flagBits.mhPort) !== 0,
  }
}

/** All attributes of a server; connections are masqueraded, that is, translated to its address. */
export function encodeServer(type: number, { address, port, weight }: RealServer): Buffer {
  return nested(
    type,
    ...serverKeyParts({ address, port }),
    uint32(server.forwarding, masquerade),
    uint32(server.weight, weight),
    uint32(server.upperLimit, 0),
    uint32(server.lowerLimit, 0),
  )
}

/** The attributes that identify a server of a service. */
export const serverKey = (type: number, found: Pick<RealServer, 'address' | 'port'>): Buffer =>
  nested(type, ...serverKeyParts(found))

/** `family` is that of the service: old kernels do not name that of the server. */
export function decodeServer(value: Buffer, family: number): FoundServer {
  const found = decodeAttributes(value)
  const count = (type: number): number => found.get(type)?.readUInt32LE() ?? 0
  return {
    address: decodeAddress(found.get(server.address), found.get(server.family)?.readUInt16LE() ?? family),
    port: found.get(server.port)?.readUInt16BE() ?? 0,
    weight: count(server.weight),
    connections: count(server.active) + count(server.inactive),
  }
}

const keyParts = ({ protocol, address, port }: ServiceAddress): Buffer[] => [
  uint16(service.family, familyOf(address)),
  uint16(service.protocol, numbers[protocol]),
  encodeAddress(service.address, address),
  networkPort(service.port, port),
]

const serverKeyParts = ({ address, port }: Pick<RealServer, 'address' | 'port'>): Buffer[] => [
  encodeAddress(server.address, address),
  networkPort(server.port, port),
  uint16(server.family, familyOf(address)),
]

function networkPort(type: number, port: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(port)
  return attribute(type, bytes)
}

/** Addresses of both families fill the same 16 bytes. */
function encodeAddress(type: number, address: string): Buffer {
  const bytes = Buffer.alloc(addressSize)
  addressToBytes(address).copy(bytes)
  return attribute(type, bytes)
}

const decodeAddress = (bytes: Buffer = Buffer.alloc(addressSize), family: number = families.ipv4): string =>
  addressFromBytes(family === families.ipv4 ? bytes.subarray(0, 4) : bytes)
