/** Attributes of interfaces of the kind vxlan (linux/if_link.h). */
import { addressFromBytes, addressToBytes } from './address-bytes.ts'
import { attribute, decodeAttributes, uint8, uint32 } from './message.ts'

const types = { id: 1, link: 3, local: 4, learning: 7, port: 15, local6: 17, checksum: 18, groupPolicy: 23 } as const

export interface VxlanSettings {
  /** The identifier of the network. */
  readonly vni: number
  /** The UDP port. */
  readonly port: number
  /** Index of the interface by which packets leave. */
  readonly link: number
  /** The source of packets; undefined if the kernel chooses it. */
  readonly local: string | undefined
  /** True if the interface learns from packets which host has a MAC address. */
  readonly learning: boolean
  /** True if marks of packets travel with them. */
  readonly groupPolicy: boolean
}

/** The attributes for `Links.addDevice`. Packets of IPv4 have no UDP checksum: that of the inner packet is enough. */
export function vxlanAttributes(settings: VxlanSettings): Buffer[] {
  const { vni, port, link, local, learning, groupPolicy } = settings
  const number = Buffer.alloc(2)
  number.writeUInt16BE(port)
  return [
    uint32(types.id, vni),
    uint32(types.link, link),
    ...(local === undefined
      ? []
      : [attribute(local.includes(':') ? types.local6 : types.local, addressToBytes(local))]),
    uint8(types.learning, learning ? 1 : 0),
    attribute(types.port, number),
    ...(local?.includes(':') ? [] : [uint8(types.checksum, 0)]),
    ...(groupPolicy ? [attribute(types.groupPolicy, Buffer.alloc(0))] : []),
  ]
}

/** The settings of an interface: `Link.data`. */
export function vxlanSettings(data: Buffer): VxlanSettings {
  const found = decodeAttributes(data)
  const local = found.get(types.local) ?? found.get(types.local6)
  return {
    vni: found.get(types.id)?.readUInt32LE() ?? 0,
    port: found.get(types.port)?.readUInt16BE() ?? 0,
    link: found.get(types.link)?.readUInt32LE() ?? 0,
    local: local && addressFromBytes(local),
    learning: found.get(types.learning)?.[0] === 1,
    groupPolicy: found.has(types.groupPolicy),
  }
}
