/**
 * The kubelet's servers without TLS: health (port 10248, on the loopback interface) and read-only access (port 10255,
 * off by default).
 */
import type { EventEmitter } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sendError } from '../../node/server/errors.ts'
import { sendPage } from '../../node/server/send-page.ts'
import type { Page, PageRequest } from '../../node/server/served-nodes.ts'
import { targetOf } from '../../node/server/target.ts'

type PageOf = (request: PageRequest) => Promise<Page | undefined>

export class PlainServer {
  readonly #server: Server

  /** `observe` is called with each request, and with its response, which closes at its end. */
  constructor(pageOf: PageOf, observe?: (request: IncomingMessage, until: EventEmitter) => void) {
    this.#server = createServer((request, response) => {
      observe?.(request, response)
      const answer = async (): Promise<void> => sendPage(request, response, targetOf(request), pageOf)
      answer().catch((error) => sendError(response, error))
    })
  }

  /** Resolves with the port; port 0 is any free one. Rejects if it cannot listen on the address. */
  async listen(address: string, port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen(port, address, resolve)
    await promise
    this.#server.off('error', reject)
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }
}
