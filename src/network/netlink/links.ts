/** Network interfaces: list, create, change, remove (rtnetlink(7)). */
import { attribute, decodeAttributes, flags, nested, text, textOf, uint8, uint32 } from './message.ts'
import type { NetlinkSocket } from './netlink-socket.ts'

const types = { new: 16, delete: 17, get: 18, set: 19 } as const
const attributes = { address: 1, name: 3, mtu: 4, master: 10, portInfo: 12, info: 18, namespaceFd: 28 } as const
const info = { kind: 1, data: 2 } as const
const vethPeer = 1
const hairpinMode = 4
const isUp = 0x1
const isPromiscuous = 0x100
const bridgeFamily = 7
const fixedSize = 16

export interface Link {
  readonly index: number
  readonly name: string
  /** The MAC address: `0a:58:0a:58:00:01`. */
  readonly address: string
  readonly mtu: number
  /** Index of the bridge of a port, else 0. */
  readonly master: number
  /** `bridge`, `veth`, …; empty for devices. */
  readonly kind: string
  readonly isUp: boolean
  /** Attributes of its kind, such as the identifier of a vxlan; `decodeAttributes` reads them. */
  readonly data: Buffer
}

/** An interface of a kind such as `vxlan` or `ipip`. */
export interface NewDevice {
  readonly name: string
  readonly kind: string
  /** Attributes of the kind. */
  readonly data: readonly Buffer[]
  readonly mtu?: number | undefined
  /** The MAC address. */
  readonly address?: string | undefined
}

export interface LinkChange {
  readonly isUp?: boolean
  readonly isPromiscuous?: boolean
  readonly name?: string
  readonly address?: string
  readonly mtu?: number
  /** Index of the bridge. */
  readonly master?: number
}

export interface VethPair {
  readonly name: string
  readonly mtu?: number | undefined
  readonly peer: {
    readonly name: string
    /** Descriptor of the namespace of the peer. */
    readonly namespaceFd: number
    readonly address?: string | undefined
  }
}

export class Links {
  readonly #socket: NetlinkSocket

  constructor(socket: NetlinkSocket) {
    this.#socket = socket
  }

  list(): Link[] {
    return this.#socket.dump('list interfaces', types.get, fixedPart({})).map(decodeLink)
  }

  find(name: string): Link | undefined {
    return this.list().find((link) => link.name === name)
  }

  /** @throws a `SystemCallError` with the code EEXIST if an interface has the name. */
  addBridge(name: string, { mtu }: { readonly mtu?: number | undefined } = {}): void {
    const size = mtu === undefined ? [] : [uint32(attributes.mtu, mtu)]
    this.#add(`create the bridge ${name}`, [
      text(attributes.name, name),
      ...size,
      nested(attributes.info, text(info.kind, 'bridge')),
    ])
  }

  /**
   * An interface without a network, for addresses of the machine. It is down.
   * @throws a `SystemCallError` with the code EEXIST if an interface has the name; EOPNOTSUPP without the module dummy.
   */
  addDummy(name: string): void {
    const kind = nested(attributes.info, text(info.kind, 'dummy'))
    this.#add(`create the interface ${name}`, [text(attributes.name, name), kind])
  }

  /**
   * Creates an interface of any kind. It is down.
   * @throws a `SystemCallError` with the code EEXIST if an interface has the name; EOPNOTSUPP without the kernel's
   * module of the kind.
   */
  addDevice({ name, kind, data, mtu, address }: NewDevice): void {
    this.#add(`create the interface ${name}`, [
      text(attributes.name, name),
      ...(mtu === undefined ? [] : [uint32(attributes.mtu, mtu)]),
      ...(address === undefined ? [] : [attribute(attributes.address, macBytes(address))]),
      nested(attributes.info, text(info.kind, kind), nested(info.data, ...data)),
    ])
  }

  /** Creates a pair of which the peer is in another namespace. */
  addVeth({ name, mtu, peer }: VethPair): void {
    const size = mtu === undefined ? [] : [uint32(attributes.mtu, mtu)]
    const address = peer.address === undefined ? [] : [attribute(attributes.address, macBytes(peer.address))]
    const other = Buffer.concat([
      fixedPart({}),
      text(attributes.name, peer.name),
      uint32(attributes.namespaceFd, peer.namespaceFd),
      ...address,
      ...size,
    ])
    this.#add(`create the interfaces ${name} and ${peer.name}`, [
      text(attributes.name, name),
      ...size,
      nested(attributes.info, text(info.kind, 'veth'), nested(info.data, attribute(vethPeer, other))),
    ])
  }

  change({ index, name }: Pick<Link, 'index' | 'name'>, change: LinkChange): void {
    const states = [
      [isUp, change.isUp],
      [isPromiscuous, change.isPromiscuous],
    ] as const
    const mask = states.reduce((sum, [bit, value]) => (value === undefined ? sum : sum | bit), 0)
    const values = states.reduce((sum, [bit, value]) => (value ? sum | bit : sum), 0)
    const body = [fixedPart({ index, flagBits: values, mask })]
    if (change.name !== undefined) body.push(text(attributes.name, change.name))
    if (change.address !== undefined) body.push(attribute(attributes.address, macBytes(change.address)))
    if (change.mtu !== undefined) body.push(uint32(attributes.mtu, change.mtu))
    if (change.master !== undefined) body.push(uint32(attributes.master, change.master))
    this.#socket.change(`change the interface ${name}`, types.new, 0, Buffer.concat(body))
  }

  /** Lets a port of a bridge send a frame back to where it came from: a pod reaches itself through a Service. */
  setHairpin({ index, name }: Pick<Link, 'index' | 'name'>): void {
    const body = Buffer.concat([
      fixedPart({ family: bridgeFamily, index }),
      nested(attributes.portInfo, uint8(hairpinMode, 1)),
    ])
    this.#socket.change(`set the hairpin mode of ${name}`, types.set, 0, body)
  }

  /** The peer of a veth interface goes with it. */
  remove({ index, name }: Pick<Link, 'index' | 'name'>): void {
    this.#socket.change(`remove the interface ${name}`, types.delete, 0, fixedPart({ index }))
  }

  #add(what: string, parts: readonly Buffer[]): void {
    this.#socket.change(what, types.new, flags.create | flags.exclusive, Buffer.concat([fixedPart({}), ...parts]))
  }
}

interface FixedPart {
  readonly family?: number
  readonly index?: number
  readonly flagBits?: number
  readonly mask?: number
}

/** `struct ifinfomsg`. */
function fixedPart({ family = 0, index = 0, flagBits = 0, mask = 0 }: FixedPart): Buffer {
  const bytes = Buffer.alloc(fixedSize)
  bytes.writeUInt8(family, 0)
  bytes.writeInt32LE(index, 4)
  bytes.writeUInt32LE(flagBits, 8)
  bytes.writeUInt32LE(mask, 12)
  return bytes
}

function decodeLink(body: Buffer): Link {
  const found = decodeAttributes(body, fixedSize)
  const kinds = found.get(attributes.info)
  const described = kinds && decodeAttributes(kinds)
  return {
    index: body.readInt32LE(4),
    name: textOf(found.get(attributes.name)),
    address: macText(found.get(attributes.address)),
    mtu: found.get(attributes.mtu)?.readUInt32LE() ?? 0,
    master: found.get(attributes.master)?.readUInt32LE() ?? 0,
    kind: textOf(described?.get(info.kind)),
    isUp: (body.readUInt32LE(8) & isUp) !== 0,
    data: described?.get(info.data) ?? Buffer.alloc(0),
  }
}

/** The bytes of `0a:58:0a:58:00:01`. */
export const macBytes = (address: string): Buffer => Buffer.from(address.replaceAll(':', ''), 'hex')

/** The text of a MAC address; empty for none. */
export const macText = (bytes: Buffer | undefined): string =>
  [...(bytes ?? [])].map((byte) => byte.toString(16).padStart(2, '0')).join(':')
