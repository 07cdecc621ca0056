/**
 * Port forwarding over a WebSocket: the query names the ports, and each has a channel for its data and one for an
 * error. A port gets one connection.
 */
import type { ChannelFormat } from '../channels/channel-connection.ts'
import type { PodReference } from '../container-streams.ts'
import { acceptChannels, type Upgrade } from '../upgrade.ts'
import { forwardPair } from './forward-pair.ts'
import { portsOf } from './ports.ts'
import type { ForwardPort } from './serve-port-forward.ts'

const binary: ChannelFormat = { isText: false, canEndChannels: false }
const formats: Readonly<Record<string, ChannelFormat>> = {
  '': binary,
  'v4.channel.k8s.io': binary,
  'v4.base64.channel.k8s.io': { isText: true, canEndChannels: false },
}

/** Resolves when all connections are closed. */
export async function forwardOverChannels(
  upgrade: Upgrade,
  query: URLSearchParams,
  pod: PodReference,
  forward: ForwardPort,
): Promise<void> {
  const ports = portsOf(query)
  const accepted = await acceptChannels(upgrade, formats)
  if (!accepted) return
  const { connection } = accepted
  const pairs = ports.map((_, i) => ({ data: connection.open(2 * i), error: connection.openForWriting(2 * i + 1) }))
  connection.start()
  const forwarding = ports.map((port, i) => {
    const { data, error } = pairs[i]!
    // Both channels begin with the number of the port.
    for (const stream of [data, error]) stream.write(portBytes(port))
    return forwardPair({ data, error }, port, pod, forward)
  })
  await Promise.all(forwarding)
  connection.close()
}

function portBytes(port: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(port)
  return bytes
}
