/** The machine's loopback network for a process in a user namespace: ports to listen on, and connections. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { basename, join } from 'node:path'
import { errorCode } from '../../../lib/explained-error.ts'
import { isLoopbackHost } from '../../../lib/loopback-host.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { type ConnectionRequest, connectionsSocket } from '../../../lib/rootless/connect-outside.ts'
import { joinSockets } from './join-sockets.ts'
import { firstLine, lineOf, type PortRequest, portsSocket } from './port-messages.ts'

export interface HostPorts {
  /** Closes all ports and connections. */
  close(): void
}

/** Serves requests on sockets in the folder, which only the user can enter. */
export async function serveHostPorts(folder: string): Promise<HostPorts> {
  const sockets = new Set<Socket>()
  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket)).on('error', () => {})
  }
  const server = createServer((socket) => {
    track(socket)
    void serveRequest(socket, folder, track)
  })
  const connections = createServer({ allowHalfOpen: true }, (socket) => {
    track(socket)
    void connectTo(socket, track)
  })
  server.listen(join(folder, portsSocket))
  connections.listen(join(folder, connectionsSocket))
  await Promise.all([once(server, 'listening'), once(connections, 'listening')])
  return {
    close() {
      server.close()
      connections.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** A connection without a request only shows its client that this process runs. */
async function serveRequest(socket: Socket, folder: string, track: (socket: Socket) => void): Promise<void> {
  const line = await firstLine(socket)
  if (line === undefined) return void socket.destroy()
  // Its end is an event only of a connection that is read.
  socket.resume()
  const { host, port, target } = JSON.parse(line) as PortRequest
  const path = join(folder, basename(target))
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    track(client)
    const inner = connect({ path, allowHalfOpen: true })
    track(inner)
    joinSockets(client, inner)
  })
  socket.once('close', () => server.close())
  try {
    await open(server, host, port)
    if (socket.destroyed) server.close()
    else socket.write(lineOf({ port: (server.address() as AddressInfo).port }))
  } catch (error) {
    socket.end(lineOf({ code: errorCode(error) ?? '', message: messageOf(error) }))
  }
}

async function connectTo(socket: Socket, track: (socket: Socket) => void): Promise<void> {
  const line = await firstLine(socket)
  const request = line === undefined ? undefined : (JSON.parse(line) as ConnectionRequest)
  if (!request || !isLoopbackHost(request.host)) return void socket.destroy()
  const outer = connect({ host: request.host, port: request.port, allowHalfOpen: true, noDelay: true })
  track(outer)
  joinSockets(socket, outer)
}

async function open(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}
