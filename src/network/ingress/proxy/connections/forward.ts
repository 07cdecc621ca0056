/** Sends a request to an endpoint of a backend, and to the next one if there is no connection. */
import type { Readable } from 'node:stream'
import type { EndpointAddress, Target } from '../../picture/backends.ts'
import type { ProxyLimits } from '../limits.ts'
import { type BackendRequest, type BackendResponse, NotConnected } from './backend-response.ts'
import { Http1Connections } from './http1-connections.ts'
import { Http2Connections } from './http2-connections.ts'

/** Endpoints that are tried for one request. */
const maxEndpoints = 5

export class Connections {
  readonly #http1: Http1Connections
  readonly #http2: Http2Connections

  constructor({ connectMs, idleMs }: ProxyLimits) {
    this.#http1 = new Http1Connections(connectMs, idleMs)
    this.#http2 = new Http2Connections(connectMs, idleMs)
  }

  /**
   * Resolves with the first response. `failed` is called for each endpoint without a connection. Rejects with
   * NotConnected if there is none to any endpoint.
   */
  async send(
    { protocol }: Pick<Target, 'protocol'>,
    endpoints: readonly EndpointAddress[],
    request: BackendRequest,
    failed: (endpoint: EndpointAddress) => void,
  ): Promise<BackendResponse> {
    const connections = protocol === 'h2c' ? this.#http2 : this.#http1
    let last: unknown
    for (const endpoint of endpoints.slice(0, maxEndpoints)) {
      try {
        return await connections.send(endpoint, request)
      } catch (error) {
        last = error
        if (!(error instanceof NotConnected) || wasRead(request.body) || request.signal.aborted) throw error
        failed(endpoint)
      }
    }
    throw last
  }

  /** Closes idle connections to an endpoint, and others after their request. */
  retire(endpoint: EndpointAddress): void {
    this.#http1.retire(endpoint)
    this.#http2.retire(endpoint)
  }

  close(): void {
    this.#http1.close()
    this.#http2.close()
  }
}

const wasRead = (body: Readable | undefined): boolean => body?.readableDidRead ?? false
