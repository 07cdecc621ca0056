/** A plain HTTP server for streams of containers, and its clients. */
import { once } from 'node:events'
import { createServer, type OutgoingHttpHeaders, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import { sendUpgradeError } from '../../server/errors.ts'
import type { ContainerStreams } from '../container-streams.ts'
import { serveStream } from '../serve-stream.ts'
import { SpdyClient } from './spdy-client.fixture.ts'

const container = { namespace: 'default', name: 'web', uid: 'u', container: 'c' }

/** Members that a test does not need. */
const unused: ContainerStreams = {
  exec: () => Promise.reject(new Error('no exec')),
  attach: () => Promise.reject(new Error('no attach')),
  portForward: () => Promise.reject(new Error('no ports')),
}

/** Serves streams at `/KIND?QUERY`; resolves with the port. */
export async function startStreamServer(t: TestContext, streams: Partial<ContainerStreams>): Promise<number> {
  const server = createServer()
  server.on('upgrade', (message, socket, head) => {
    socket.on('error', () => socket.destroy())
    const { pathname, searchParams } = new URL(message.url ?? '/', 'http://kubelet')
    serveStream({ request: message, socket, head }, pathname.slice(1), container, searchParams, {
      ...unused,
      ...streams,
    }).catch((error) => sendUpgradeError(socket, error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Resolves with a SPDY connection of the protocol version. */
export async function connectSpdy(t: TestContext, port: number, path: string, version: string): Promise<SpdyClient> {
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': version }
  const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers }).end()
  const [, socket, head] = (await once(sent, 'upgrade')) as [unknown, Socket, Buffer]
  t.after(() => socket.destroy())
  return new SpdyClient(socket, head)
}

/** Resolves with the status and text of the answer to an upgrade that is rejected. */
export async function rejectedUpgrade(port: number, path: string, headers: OutgoingHttpHeaders): Promise<string> {
  const sent = request({ port, host: '127.0.0.1', path, headers: { connection: 'Upgrade', ...headers } }).end()
  const [response] = await once(sent, 'response')
  return `${response.statusCode} ${Buffer.concat(await response.toArray())}`
}

/** Resolves with an open WebSocket; messages so far are lost unless it is paused. */
export async function connectWebSocket(
  t: TestContext,
  port: number,
  path: string,
  protocol: string | undefined,
): Promise<{ readonly socket: WebSocket; readonly messages: Buffer[] }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocol)
  const messages: Buffer[] = []
  socket.on('message', (data) => messages.push(data as Buffer))
  t.after(() => socket.terminate())
  await once(socket, 'open')
  return { socket, messages }
}
