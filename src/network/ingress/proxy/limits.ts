/** Limits of the proxy. Times are in ms. */
export interface ProxyLimits {
  /** To open a connection to an endpoint. */
  readonly connectMs: number
  /** From the end of a request to the head of its response, if the route has no timeout. Not for gRPC. */
  readonly responseMs: number
  /** Without a byte in either direction: of a connection in HTTP, and of a tunnel such as a WebSocket. */
  readonly idleMs: number
  readonly tunnelIdleMs: number
  /** To receive the head of a request. */
  readonly headMs: number
  /** Of the head of a request. */
  readonly headBytes: number
  /** Requests at the same time on one connection of HTTP/2. */
  readonly streams: number
}

export const defaultLimits: ProxyLimits = {
  connectMs: 5_000,
  responseMs: 60_000,
  idleMs: 300_000,
  tunnelIdleMs: 3_600_000,
  headMs: 60_000,
  headBytes: 64 * 1024,
  streams: 250,
}
