/** Opens the sockets of listeners. */
import { messageOf } from '../../../lib/message-of.ts'
import { families } from '../../netlink/address-bytes.ts'
import type { Listener } from '../listener.ts'
import { clientFilter } from './client-filter.ts'
import { encodeAddress } from './socket-address.ts'
import { linux, type SocketCalls } from './socket-calls.ts'
import { keepIdle } from './tcp/tcp-connection.ts'

/** The kernel lowers it to net.core.somaxconn. */
const backlog = 65_535

/**
 * Returns the number of a socket that is bound, and listens if it is one for TCP.
 * @throws a `SystemCallError`, for example with the code EADDRINUSE
 */
export function openListener(calls: SocketCalls, listener: Listener): number {
  const address = encodeAddress(listener)
  const family = address.readUInt16LE(0)
  const isTcp = listener.protocol === 'TCP'
  const type = (isTcp ? linux.stream : linux.datagram) | linux.nonBlocking | linux.closeOnExec
  const fd = calls.check('socket', calls.socket(family, type, 0))
  try {
    if (family === families.ipv6) {
      calls.setOption(fd, linux.ipv6Level, linux.ipv6Only)
      // The kernel binds IPv6 sockets to addresses of interfaces only.
      if (listener.hasRoute) calls.setOption(fd, linux.ipv6Level, linux.ipv6FreeBind)
    }
    if (isTcp) {
      // Accepted sockets inherit the options. A restart does not wait for connections that have just ended.
      calls.setOption(fd, linux.socketLevel, linux.reuseAddress)
      calls.setOption(fd, linux.socketLevel, linux.keepAlive)
      calls.setOption(fd, linux.tcpLevel, linux.keepIdle, keepIdle)
      calls.setOption(fd, linux.tcpLevel, linux.noDelay)
    }
    filterClients(calls, fd, listener)
    calls.check(`bind to ${listener.address} port ${listener.port}`, calls.bind(fd, address, address.length))
    if (isTcp) calls.check('listen', calls.listen(fd, backlog))
    return fd
  } catch (error) {
    calls.close(fd)
    throw error
  }
}

/** Brings `allowed` into effect. @throws if the kernel cannot. */
export function filterClients(calls: SocketCalls, fd: number, { allowed, address, port }: Listener): void {
  // An error is that there is none.
  if (!allowed) return void calls.setOption(fd, linux.socketLevel, linux.detachFilter)
  try {
    calls.check('setsockopt', calls.setFilter(fd, clientFilter(allowed)))
  } catch (error) {
    throw new Error(`cannot exclude clients of ${address} port ${port}: ${messageOf(error)}`, { cause: error })
  }
}
