/** A load balancer for tests: passes each connection to one of the servers that are in use, in turn. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Lifetime } from '../support/reachable-cluster.ts'

export interface Balancer {
  readonly url: string
  /** The ports of the servers in use. */
  readonly ports: Set<number>
}

export async function startBalancer(t: Lifetime): Promise<Balancer> {
  const ports = new Set<number>()
  const sockets = new Set<Socket>()
  let turn = 0
  const listener = createServer((socket) => {
    const all = [...ports]
    const port = all[turn++ % all.length]
    if (port === undefined) {
      socket.destroy()
      return
    }
    const server = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy()).on('close', () => sockets.delete(one))
      one.pipe(other)
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  return { url: `https://127.0.0.1:${(listener.address() as AddressInfo).port}`, ports }
}
