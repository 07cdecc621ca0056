/**
 * Lets pods reach an API server that listens on loopback: accepts connections at the gateway of the pods' bridge, and
 * forwards them. Connections from other machines are refused.
 */
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { addressAt, parseCidr, rangeHas } from '../../../lib/cidr.ts'
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

/**
 * Gives the gateway of a range to this machine, and returns the end of it. The bridge has the address only while pods
 * are on it; pods in the network of the node need it, too.
 */
export function holdGateway(gateway: string): () => void {
  const own = `${gateway}/${gateway.includes(':') ? 128 : 32}`
  changeAddresses('EEXIST', ({ addresses, links }) => addresses.add(linkOf(links), own))
  return () => changeAddresses('EADDRNOTAVAIL', ({ addresses, links }) => addresses.remove(linkOf(links), own))
}

/** Returns the end of it. Rejects if this machine does not have the gateway. */
export async function startApiGateway({ range, port, host }: ApiGatewayOptions): Promise<() => Promise<void>> {
  const pods = parseCidr(range)
  const gateway = gatewayOf(range)
  if (!pods || !gateway) throw new Error(`${range} is not a range of addresses`)
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (isOfThisMachine(socket.remoteAddress ?? '') || rangeHas(range, socket.remoteAddress ?? ''))
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

/** True for processes of this machine, whose connections to a Service arrive with its own addresses. */
export function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces()).some((list = []) => list.some((each) => each.address === address))
}

/** True for an address in the networks of this machine's interfaces. */
export const isNeighbour = (address: string): boolean =>
  Object.values(networkInterfaces()).some((list = []) =>
    list.some(({ cidr, internal }) => !internal && cidr !== null && rangeHas(cidr, address)),
  )

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
