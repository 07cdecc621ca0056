/** The fields of the backend ipsec in `net-conf.json`, with upstream's names and defaults. */
import { type BackendSettings, booleanOf, fieldOf, textOf } from '../../config/network-config.ts'

export interface IpsecConfig {
  /** True: packets of ESP travel in packets of UDP, also without a NAT. */
  readonly udpEncap: boolean
  /** Ciphers of packets, as strongSwan writes them. */
  readonly espProposal: string
  /** The secret of all nodes. */
  readonly presharedKey: string
}

const defaultProposal = 'aes128gcm16-sha256-prfsha256-ecp256'
const minKeySize = 96
const keyHint = 'openssl rand -hex 48 prints one'

/** @throws an Error that names the field that is wrong, without secrets. */
export function ipsecConfig(settings: BackendSettings): IpsecConfig {
  return {
    udpEncap: booleanOf(settings, 'UDPEncap') ?? false,
    espProposal: textOf(settings, 'ESPProposal') || defaultProposal,
    presharedKey: keyOf(fieldOf(settings, 'PSK')),
  }
}

function keyOf(value: unknown): string {
  if (value === undefined) throw new Error(`PSK is missing: give all nodes the same secret text; ${keyHint}`)
  if (typeof value !== 'string') throw new Error(`PSK must be a text: ${keyHint}`)
  const size = Buffer.byteLength(value)
  if (size >= minKeySize) return value
  throw new Error(
    `config error, password is too short: PSK has ${size} characters, and needs at least ${minKeySize}; ${keyHint}`,
  )
}
