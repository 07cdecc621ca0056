/**
 * Lets pods reach an API server that listens on loopback: accepts connections at the gateway of the pods' bridge, and
 * forwards them. Connections from other machines are refused.
 */
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { addressAt, type Cidr, parseCidr } from '../../../lib/cidr.ts'
import { ignoreErrors } from '../../../lib/linux/c-library.ts'
import { systemCalls } from '../../../lib/linux/system-calls.ts'
import { type HostNetwork, withHostNetwork } from '../../../network/netlink/host-network.ts'

export interface ApiGatewayOptions {
  /** The range of the pods: `10.128.7.0/24`. */
  readonly range: string
  /** The port of the gateway, and of the API server on `host`. */
  readonly port: number
  readonly host: string
}

const loopback = 'lo'

/** The gateway of a range: its first address. */
export function gatewayOf(range: string): string | undefined {
  const cidr = parseCidr(range)
  return cidr && addressAt(cidr, 1)
}

/** Returns the end of it. Rejects if the address is not available. */
export async function startApiGateway({ range, port, host }: ApiGatewayOptions): Promise<() => Promise<void>> {
  const pods = parseCidr(range)
  const gateway = gatewayOf(range)
  if (!pods || !gateway) throw new Error(`${range} is not a range of addresses`)
  const own = `${gateway}/${pods.family === 4 ? 32 : 128}`
  // The bridge has the address only while pods are on it; pods in the network of the node need it, too.
  changeAddresses('EEXIST', ({ addresses, links }) => addresses.add(linkOf(links), own))
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (isOfThisMachine(socket.remoteAddress ?? '', pods))
      forward(socket, connect({ host, port, allowHalfOpen: true, noDelay: true }), sockets)
    else socket.destroy()
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, gateway, resolve)
  await promise
  return async () => {
    const closed = new Promise<void>((done) => server.close(() => done()))
    for (const socket of sockets) socket.destroy()
    await closed
    changeAddresses('EADDRNOTAVAIL', ({ addresses, links }) => addresses.remove(linkOf(links), own))
  }
}

function changeAddresses(ignored: string, change: (network: HostNetwork) => void): void {
  try {
    withHostNetwork(systemCalls(), undefined, change)
  } catch (error) {
    ignoreErrors(error, ignored)
  }
}

function linkOf(links: HostNetwork['links']) {
  const link = links.find(loopback)
  if (!link) throw new Error(`this machine has no interface ${loopback}`)
  return link
}

/** True for pods and for processes of this machine, whose connections to a Service arrive with its own addresses. */
export function isOfThisMachine(address: string, pods: Cidr): boolean {
  const own = parseCidr(`${address}/${pods.prefix}`)
  if (own?.family === pods.family && own.base === pods.base) return true
  return Object.values(networkInterfaces()).some((list = []) => list.some((each) => each.address === address))
}

function forward(from: Socket, to: Socket, sockets: Set<Socket>): void {
  for (const [socket, other] of [
    [from, to],
    [to, from],
  ] as const) {
    sockets.add(socket)
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
    socket.pipe(other)
  }
}
