/** The fields of the backend wireguard in `net-conf.json`, with upstream's names and defaults. */
import { parseKey } from '../../../netlink/wireguard/keys.ts'
import { type BackendSettings, integerOf, textOf } from '../../config/network-config.ts'

/** `separate`: a tunnel for each family. The others: one tunnel for both, by addresses of the family. */
export type WireguardMode = 'separate' | 'auto' | 'ipv4' | 'ipv6'

export interface WireguardConfig {
  readonly mode: WireguardMode
  readonly listenPort: number
  readonly listenPortV6: number
  /** The size of packets between nodes, in bytes; undefined: that of the interface to other nodes. */
  readonly mtu: number | undefined
  readonly presharedKey: Buffer | undefined
  readonly keepaliveSeconds: number
}

const modes: readonly WireguardMode[] = ['separate', 'auto', 'ipv4', 'ipv6']
const [minMtu, maxNumber] = [576, 65_535]

/** @throws an Error that names the field that is wrong, without secrets. */
export function wireguardConfig(settings: BackendSettings): WireguardConfig {
  const mode = textOf(settings, 'Mode') || 'separate'
  const found = modes.find((each) => each === mode)
  if (!found) throw new Error(`no valid Mode configured: ${JSON.stringify(mode)}. Use one of ${modes.join(', ')}`)
  const psk = textOf(settings, 'PSK') ?? ''
  const presharedKey = psk === '' ? undefined : parseKey(psk)
  if (psk !== '' && !presharedKey) throw new Error('could not parse psk: PSK must be a key that wg genpsk prints')
  return {
    mode: found,
    listenPort: integerOf(settings, 'ListenPort', 1, maxNumber) ?? 51_820,
    listenPortV6: integerOf(settings, 'ListenPortV6', 1, maxNumber) ?? 51_821,
    mtu: integerOf(settings, 'MTU', minMtu, maxNumber),
    presharedKey,
    keepaliveSeconds: integerOf(settings, 'PersistentKeepaliveInterval', 0, maxNumber) ?? 0,
  }
}
