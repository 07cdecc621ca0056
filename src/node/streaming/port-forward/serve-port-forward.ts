/** Serves port forwarding: connections to ports of a pod, several of them over one connection of the client. */
import type { Duplex } from 'node:stream'
import type { PodReference } from '../container-streams.ts'
import { protocolOf, type Upgrade } from '../upgrade.ts'
import { forwardOverChannels } from './over-channels.ts'
import { forwardOverSpdy } from './over-spdy.ts'

/** Forwards one connection to a port. Resolves when it is closed; if it rejects, the client gets the error. */
export type ForwardPort = (port: number, connection: Duplex) => Promise<void>

/** Rejects with an HttpError, before it has answered, if the client's request is not supported. */
export async function servePortForward(
  upgrade: Upgrade,
  query: URLSearchParams,
  pod: PodReference,
  forward: ForwardPort,
): Promise<void> {
  if (protocolOf(upgrade) === 'spdy') forwardOverSpdy(upgrade, pod, forward)
  else await forwardOverChannels(upgrade, query, pod, forward)
}
