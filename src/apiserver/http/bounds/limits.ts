/**
 * What the listener bears of its clients. Times are upstream's where it has them; all are in ms, all sizes in bytes.
 */

export interface ListenerLimits {
  /** TLS handshakes and, after them, headers must be complete within this. */
  readonly headerTimeoutMs: number
  /** Connections without a request are closed after this; so are answers that nobody reads. */
  readonly idleTimeoutMs: number
  /** An HTTP/2 peer that is silent for so long while it has requests under way is asked whether it is still there… */
  readonly pingAfterMs: number
  /** … and has so long to say so. */
  readonly pingTimeoutMs: number
  /** How long a client may go on sending after its answer, so that it can read the answer first. */
  readonly lingerMs: number
  /** Requests at once on an HTTP/2 connection. */
  readonly streams: number
  /** Larger headers are refused. */
  readonly headerBytes: number
  /** All request bodies under way together. */
  readonly bodyBytes: number
  /** Bodies up to `smallBodyBytes` have this part of `bodyBytes` for themselves. */
  readonly smallBodyReserve: number
  readonly smallBodyBytes: number
  /** So many requests of one connection may be reset at once… */
  readonly resets: number
  /** … and so many each second. */
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
