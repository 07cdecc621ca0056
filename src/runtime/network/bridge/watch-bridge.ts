/** Watches a bridge of this machine. */
import { isIPv4 } from 'node:net'
import { systemCalls } from '../../../lib/linux/system-calls.ts'
import { neighbourFilter } from '../../../network/arp/capture/packet-filter.ts'
import { PacketSocket } from '../../../network/arp/capture/packet-socket.ts'
import { announceInterface } from '../../../network/cni/pod-interface.ts'
import { withHostNetwork } from '../../../network/netlink/host-network.ts'
import { BridgeWatch, type BridgeWatchOptions, type OpenedBridge, type WatchedPod } from './bridge-watch.ts'

/** Returns a watch without pods, which has nothing open. */
export const watchBridge = (options: Pick<BridgeWatchOptions, 'bridge' | 'onConflict' | 'log'>): BridgeWatch =>
  new BridgeWatch({ ...options, open: () => openBridge(options.bridge), announce, now: () => performance.now() })

/** From the pod's end, so that the bridge learns its port, too. */
const announce = ({ namespaceFile: namespace, interfaceName }: WatchedPod): void =>
  announceInterface(systemCalls(), { namespace, interfaceName })

function openBridge(name: string): OpenedBridge {
  const calls = systemCalls()
  return withHostNetwork(calls, undefined, ({ links, addresses }) => {
    const link = links.find(name)
    if (!link) throw new Error(`there is no bridge ${name}`)
    const own = addresses.list().filter((one) => one.link === link.index)
    const gateways = own.map(({ address }) => address.split('/')[0]!).filter((address) => isIPv4(address))
    const socket = PacketSocket.open({ calls, link: link.index, filter: neighbourFilter() })
    return { socket, hardware: link.address, gateways }
  })
}
