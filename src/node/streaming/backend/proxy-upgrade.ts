/** Passes an upgraded connection on to another server, byte by byte, with back-pressure and half-close. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { requestUpgrade } from '../spdy/connect-spdy.ts'
import type { Upgrade } from '../upgrade.ts'
import { closeAfterDelivery } from './close-after-delivery.ts'

/** The headers that choose the protocol; credentials of the client are not passed on. */
const passedHeaders =
  /^(connection|upgrade|x-stream-protocol-version|sec-websocket-.*|origin|user-agent|accept.*|content-type)$/

/**
 * Resolves when the connection is closed, or the server's rejection has been sent. Rejects, before it has answered, if
 * the server cannot be reached.
 */
export async function proxyUpgrade({ request, socket, head }: Upgrade, url: string): Promise<void> {
  const { response, connection } = await requestUpgrade(url, request.method ?? 'GET', passed(request.headers))
  socket.write(headOf(response))
  if (!connection) {
    response.pipe(socket)
    await closed(socket)
    return
  }
  const { socket: server } = connection
  if (connection.head.length > 0) server.unshift(connection.head)
  if (head.length > 0) socket.unshift(head)
  connectBoth(socket, server)
  await Promise.all([closed(socket), closed(server)])
}

function passed(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => passedHeaders.test(name)))
}

/** The head of a response, as it was received. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  let text = `HTTP/1.1 ${statusCode} ${statusMessage}\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    // The body is sent as it is decoded, and ends with the connection.
    if (!/^(transfer-encoding|keep-alive)$/i.test(name)) text += `${name}: ${rawHeaders[i + 1]}\r\n`
  }
  return `${text}\r\n`
}

/** Pipes both ways. The end of one side ends the other; a client that fails closes both. */
function connectBoth(client: Duplex, server: Duplex): void {
  for (const side of [client, server]) side.on('error', () => side.destroy())
  client.on('close', () => {
    if (client.readableEnded) server.end()
    else server.destroy()
  })
  server.on('close', () => closeAfterDelivery(client))
  client.pipe(server)
  server.pipe(client)
}

const closed = (stream: Duplex): Promise<void> =>
  stream.closed ? Promise.resolve() : new Promise((resolve) => stream.once('close', resolve))
