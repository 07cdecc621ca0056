/** Interfaces, addresses and routes of one network namespace. */
import type { SystemCalls } from '../../lib/linux/system-calls.ts'
import { Addresses } from './addresses.ts'
import { Links } from './links.ts'
import { Neighbors } from './neighbors.ts'
import { NetlinkSocket } from './netlink-socket.ts'
import { Routes } from './routes.ts'

export interface HostNetwork {
  readonly links: Links
  readonly addresses: Addresses
  readonly routes: Routes
  readonly neighbors: Neighbors
}

/**
 * Calls a function with the network of a namespace's file, by default that of the thread.
 * @example withHostNetwork(calls, '/run/netns/pod', ({ links }) => links.list())
 */
export function withHostNetwork<Result>(
  calls: SystemCalls,
  namespace: string | undefined,
  use: (network: HostNetwork) => Result,
): Result {
  const socket = NetlinkSocket.open(calls, namespace)
  try {
    return use({
      links: new Links(socket),
      addresses: new Addresses(socket),
      routes: new Routes(socket),
      neighbors: new Neighbors(socket),
    })
  } finally {
    socket.close()
  }
}
