/** An HTTP server that stands in for a cloud: its API and its metadata. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Lifetime } from '../../support/test-cluster.ts'

export interface CloudQuestion {
  readonly method: string
  /** With the authority that the client used. */
  readonly url: URL
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The address of the client, by which a metadata server knows its instance. */
  readonly client: string
}

export interface CloudReply {
  readonly status: number
  readonly text: string
}

/** Serves on a free port of an address. Resolves with the URL. */
export async function serveCloud(
  t: Lifetime,
  address: string,
  answer: (question: CloudQuestion) => CloudReply,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const url = new URL(request.url ?? '/', `http://${headers.host}`)
    const client = request.socket.remoteAddress ?? ''
    const reply = answer({ method: request.method ?? '', url, headers, body: await text(request), client })
    response.writeHead(reply.status).end(reply.text)
  })
  server.listen(0, address)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://${address}:${port}`
}

/** An instance of the cloud. */
export interface CloudInstance {
  readonly id: string
  /** Its address in the cloud's network. */
  readonly address: string
}
