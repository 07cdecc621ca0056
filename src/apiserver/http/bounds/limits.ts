/** Limits of the listener. Times are upstream's where it has them; all are in ms, all sizes in bytes. */

export interface ListenerLimits {
  /** The time in which a TLS handshake and, after it, the headers must be complete. */
  readonly headerTimeoutMs: number
  /** Idle time after which connections without a request, and responses that nobody reads, are closed. */
  readonly idleTimeoutMs: number
  /** An HTTP/2 peer that is silent for this long while it has requests in progress gets a PING… */
  readonly pingAfterMs: number
  /** … and must acknowledge it within this time. */
  readonly pingTimeoutMs: number
  /** The time that a client may go on sending after its response, so that it can read the response first. */
  readonly lingerMs: number
  /** Concurrent requests on an HTTP/2 connection. */
  readonly streams: number
  /** Larger headers are rejected. */
  readonly headerBytes: number
  /** The total size of all request bodies in progress. */
  readonly bodyBytes: number
  /** The part of `bodyBytes` that is reserved for bodies up to `smallBodyBytes`. */
  readonly smallBodyReserve: number
  readonly smallBodyBytes: number
  /** The number of requests of one connection that may be reset at once… */
  readonly resets: number
  /** … and per second. */
  readonly resetsPerSecond: number
}

export const defaultLimits: ListenerLimits = {
  headerTimeoutMs: 32_000,
  idleTimeoutMs: 90_000,
  pingAfterMs: 30_000,
  pingTimeoutMs: 15_000,
  lingerMs: 5_000,
  streams: 3000,
  headerBytes: 1024 * 1024,
  bodyBytes: 96 * 1024 * 1024,
  smallBodyReserve: 32 * 1024 * 1024,
  smallBodyBytes: 64 * 1024,
  resets: 1_500,
  resetsPerSecond: 100,
}
