/** The backend wireguard: packets to pods of other nodes travel encrypted, by WireGuard. */
import { withHostNetwork } from '../../../netlink/host-network.ts'
import { publicKeyOf } from '../../../netlink/wireguard/keys.ts'
import type { Backend } from '../backend.ts'
import { defaultKeyFile, privateKeyOf } from './key-file.ts'
import { wireguardConfig } from './wireguard-config.ts'
import { ensureWireguardLink } from './wireguard-link.ts'
import { type TunnelSettings, WireguardNetwork, wireguardType } from './wireguard-network.ts'
import { portOf } from './wireguard-peers.ts'

/** IPv6 40, UDP 8, and 32 of WireGuard, in bytes: upstream's number for both families. */
const overhead = 80
const names = { main: 'flannel-wg', ipv6: 'flannel-wg-v6' } as const

export const wireguardBackend: Backend = {
  type: wireguardType,
  async register(context) {
    const { config, external, subnets, calls, environment, random, signal } = context
    const settings = wireguardConfig(config.backend)
    const mtu = (settings.mtu ?? external.mtu) - overhead
    const isSeparate = settings.mode === 'separate'
    const tunnels: TunnelSettings[] = [
      ...(config.enableIPv4 || !isSeparate ? [{ name: names.main, port: settings.listenPort, isMain: true }] : []),
      ...(config.enableIPv6 && isSeparate ? [{ name: names.ipv6, port: settings.listenPortV6, isMain: false }] : []),
    ]
    withHostNetwork(calls, undefined, (host) => {
      for (const { name } of tunnels) ensureWireguardLink(host, name, mtu)
    })
    const privateKey = privateKeyOf(environment.WIREGUARD_KEY_FILE || defaultKeyFile, random)
    const PublicKey = publicKeyOf(privateKey).toString('base64')
    const lease = await subnets.acquireLease(
      {
        backendType: wireguardType,
        publicIP: external.publicIP,
        publicIPv6: external.publicIPv6,
        ...(config.enableIPv4 && { backendData: { PublicKey, Port: portOf(settings, 4) } }),
        ...(config.enableIPv6 && { backendV6Data: { PublicKey, Port: portOf(settings, 6) } }),
      },
      signal,
    )
    for (const [isEnabled, subnet, family] of [
      [config.enableIPv4, lease.subnet, 'IPv4'],
      [config.enableIPv6, lease.ipv6Subnet, 'IPv6'],
    ] as const)
      if (isEnabled && subnet === undefined)
        throw new Error(`failed to configure wg interface: ${family} is enabled but the lease has no ${family}`)
    const network = new WireguardNetwork(context, settings, { privateKey, tunnels, mtu, lease })
    await network.configure()
    return network
  },
}
