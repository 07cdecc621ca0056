/**
 * Connections of UDP outlive the pods that they lead to, since UDP has no end: without these functions, clients that go
 * on sending would not reach the next pod of a host port.
 */
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { type Connection, removeUdpConnections } from '../../netlink/connections.ts'
import { isAnyAddress, type PodPorts } from './host-port-rules.ts'

/** Removes connections to the host ports that lead elsewhere than to the pod. `hostAddresses` are those of the host. */
export function removeEarlierConnections(calls: SystemCalls, pod: PodPorts, hostAddresses: readonly string[]): void {
  const local = new Set(hostAddresses)
  removeFrom(
    calls,
    pod,
    ({ original, reply }) => local.has(original.destination) && !pod.addresses.includes(reply.source),
  )
}

/** Removes connections from the host ports to the pod. */
export function removeConnectionsTo(calls: SystemCalls, pod: PodPorts): void {
  removeFrom(calls, pod, ({ reply }) => pod.addresses.includes(reply.source))
}

function removeFrom(calls: SystemCalls, { ports }: PodPorts, isStale: (connection: Connection) => boolean): void {
  const udpPorts = ports.filter(({ protocol }) => protocol === 'udp')
  if (udpPorts.length === 0) return
  const isOfPort = ({ original }: Connection): boolean =>
    udpPorts.some(
      ({ hostPort, hostIP }) =>
        hostPort === original.destinationPort && (isAnyAddress(hostIP) || hostIP === original.destination),
    )
  removeUdpConnections(calls, (connection) => isOfPort(connection) && isStale(connection))
}
