/** The HTTP pages of DNS: `/health`, `/ready` and `/metrics`, each on a port of its own as CoreDNS has them. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A page: its status and text. */
export interface StatusPage {
  readonly status: number
  readonly text: string
}

export interface PagePort {
  readonly port: number
  close(): Promise<void>
}

/** Serves one page. `port` 0 takes a free one. Rejects if the address or port is not available. */
export async function servePage(
  address: string,
  port: number,
  path: string,
  page: () => StatusPage,
): Promise<PagePort> {
  const server = createServer((request, response) => {
    const isPage = request.url?.split('?')[0] === path
    const { status, text } = isPage ? page() : { status: 404, text: '404 page not found\n' }
    response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text)
  })
  server.listen({ host: address, port })
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => close(server) }
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}
