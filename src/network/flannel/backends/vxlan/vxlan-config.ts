/** The fields of the backend vxlan in `net-conf.json`, with upstream's names and defaults. */
import { type BackendSettings, booleanOf, integerOf, textOf } from '../../config/network-config.ts'

export interface VxlanConfig {
  readonly vni: number
  readonly port: number
  /** The size of packets between nodes, in bytes; undefined: that of the interface to other nodes. */
  readonly mtu: number | undefined
  readonly groupPolicy: boolean
  readonly learning: boolean
  /** True: packets to nodes on a common link are not encapsulated. */
  readonly directRouting: boolean
  /** The first bytes of MAC addresses: `0e2a` for `0E-2A`; empty for random ones. */
  readonly macPrefix: string
}

/** Linux' port of vxlan before there was a registered one: upstream nodes use it. */
const defaultPort = 8472
const maxVni = 0xffffff
const minMtu = 576

/** @throws an Error that names the field that is wrong. */
export function vxlanConfig(settings: BackendSettings): VxlanConfig {
  return {
    vni: integerOf(settings, 'VNI', 0, maxVni) ?? 1,
    port: integerOf(settings, 'Port', 0, 65_535) || defaultPort,
    mtu: integerOf(settings, 'MTU', minMtu, 65_535),
    groupPolicy: booleanOf(settings, 'GBP') ?? false,
    learning: booleanOf(settings, 'Learning') ?? false,
    directRouting: booleanOf(settings, 'DirectRouting') ?? false,
    macPrefix: macPrefixOf(textOf(settings, 'MacPrefix') ?? ''),
  }
}

function macPrefixOf(text: string): string {
  if (text === '') return ''
  const prefix = text.replace(/[-:]/g, '').toLowerCase()
  const isUnicast = /^(?:[0-9a-f]{2}){1,4}$/.test(prefix) && (Number.parseInt(prefix.slice(0, 2), 16) & 1) === 0
  if (isUnicast) return prefix
  throw new Error(`MacPrefix ${JSON.stringify(text)} is not the begin of a MAC address of one host, such as 0E-2A`)
}
