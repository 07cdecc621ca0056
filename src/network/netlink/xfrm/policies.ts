/** Policies of IPsec that put packets of one range to another into a tunnel of ESP (linux/xfrm.h). */
import { addressFromBytes, addressToBytes, families } from '../address-bytes.ts'
import { attribute, decodeAttributes } from '../message.ts'
import type { NetlinkSocket } from '../netlink-socket.ts'

/** Messages. An update adds a policy if it is missing. */
const types = { delete: 0x14, get: 0x15, update: 0x19 } as const
const directions = { in: 0, out: 1, fwd: 2 } as const
/** XFRMA_TMPL. */
const templateAttribute = 5
/** Sizes of structs, in bytes. */
const sizes = { selector: 56, id: 64, policy: 168, template: 64 } as const
/** Offsets in `struct xfrm_userpolicy_info`. */
const offsets = { lifetime: 56, direction: 160, action: 161 } as const
const unlimited = 0xffff_ffff_ffff_ffffn
const allAlgorithms = 0xffff_ffff
export const espProtocol = 50
const tunnelMode = 1

export type PolicyDirection = keyof typeof directions

/** A policy of IPv4 whose packets are allowed. */
export interface TunnelPolicy {
  readonly direction: PolicyDirection
  /** `10.244.1.0/24`: the ranges of packets before they are encrypted. */
  readonly source: string
  readonly destination: string
  /** The ends of the tunnel. */
  readonly tunnelSource: string
  readonly tunnelDestination: string
  /** Connects the policy with states of the same number. */
  readonly requestId: number
}

/** Policies of the network namespace of a socket of `protocols.xfrm`. */
export class XfrmPolicies {
  readonly #socket: NetlinkSocket

  constructor(socket: NetlinkSocket) {
    this.#socket = socket
  }

  /** Policies of IPv4 with one template: a tunnel of ESP. */
  list(): TunnelPolicy[] {
    return this.#socket
      .dump('list the policies of IPsec', types.get, Buffer.alloc(sizes.id))
      .map(decodePolicy)
      .filter((one) => one !== undefined)
  }

  /** Adds a policy, or replaces the one with the same direction and ranges. */
  set(policy: TunnelPolicy): void {
    this.#socket.change(`set the policy ${policyText(policy)}`, types.update, 0, encodePolicy(policy))
  }

  /** @throws a `SystemCallError` with the code ENOENT if there is none. */
  remove(policy: TunnelPolicy): void {
    const id = Buffer.alloc(sizes.id)
    selectorOf(policy).copy(id)
    id.writeUInt8(directions[policy.direction], 60)
    this.#socket.change(`remove the policy ${policyText(policy)}`, types.delete, 0, id)
  }
}

/** `out 10.244.1.0/24 > 10.244.2.0/24`. */
export const policyText = ({ direction, source, destination }: TunnelPolicy): string =>
  `${direction} ${source} > ${destination}`

/** `struct xfrm_userpolicy_info` and its template. */
export function encodePolicy(policy: TunnelPolicy): Buffer {
  const body = Buffer.alloc(sizes.policy)
  selectorOf(policy).copy(body)
  for (let limit = 0; limit < 4; limit++) body.writeBigUInt64LE(unlimited, offsets.lifetime + limit * 8)
  body.writeUInt8(directions[policy.direction], offsets.direction)
  return Buffer.concat([body, attribute(templateAttribute, templateOf(policy))])
}

/** Returns undefined for a policy of another kind. */
export function decodePolicy(body: Buffer): TunnelPolicy | undefined {
  const directionByte = body.readUInt8(offsets.direction)
  const direction = (['in', 'out', 'fwd'] as const).find((one) => directions[one] === directionByte)
  const template = decodeAttributes(body, sizes.policy).get(templateAttribute)
  if (!direction || body.readUInt16LE(40) !== families.ipv4 || body.readUInt8(offsets.action) !== 0) return undefined
  if (template?.length !== sizes.template || template.readUInt16LE(24) !== families.ipv4) return undefined
  if (template.readUInt8(20) !== espProtocol || template.readUInt8(48) !== tunnelMode) return undefined
  return {
    direction,
    source: `${addressFromBytes(body.subarray(16, 20))}/${body.readUInt8(43)}`,
    destination: `${addressFromBytes(body.subarray(0, 4))}/${body.readUInt8(42)}`,
    tunnelSource: addressFromBytes(template.subarray(28, 32)),
    tunnelDestination: addressFromBytes(template.subarray(0, 4)),
    requestId: template.readUInt32LE(44),
  }
}

/** `struct xfrm_selector`: destination, source, ports, family, prefixes, protocol, interface, user. */
function selectorOf({ source, destination }: TunnelPolicy): Buffer {
  const bytes = Buffer.alloc(sizes.selector)
  const [from = '', fromPrefix = ''] = source.split('/')
  const [to = '', toPrefix = ''] = destination.split('/')
  addressToBytes(to).copy(bytes, 0)
  addressToBytes(from).copy(bytes, 16)
  bytes.writeUInt16LE(families.ipv4, 40)
  bytes.writeUInt8(Number(toPrefix), 42)
  bytes.writeUInt8(Number(fromPrefix), 43)
  return bytes
}

/** `struct xfrm_user_tmpl`: destination, SPI, protocol, family, source, request, mode, and algorithms. */
function templateOf({ tunnelSource, tunnelDestination, requestId }: TunnelPolicy): Buffer {
  const bytes = Buffer.alloc(sizes.template)
  addressToBytes(tunnelDestination).copy(bytes, 0)
  bytes.writeUInt8(espProtocol, 20)
  bytes.writeUInt16LE(families.ipv4, 24)
  addressToBytes(tunnelSource).copy(bytes, 28)
  bytes.writeUInt32LE(requestId, 44)
  bytes.writeUInt8(tunnelMode, 48)
  for (const at of [52, 56, 60]) bytes.writeUInt32LE(allAlgorithms, at)
  return bytes
}
