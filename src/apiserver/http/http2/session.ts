/** The state of one HTTP/2 connection: its peer, the requests in progress, and whether it is still in use. */
import { constants, type ServerHttp2Session } from 'node:http2'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { FairShare, type Startable } from '../bounds/fair-share.ts'
import type { Bounds } from '../bounds/index.ts'
import type { ListenerLimits } from '../bounds/limits.ts'
import { ResetLimit } from '../bounds/reset-limit.ts'
import type { Http2Peer } from './exchange.ts'

export class Http2Session implements Http2Peer {
  readonly #session: ServerHttp2Session
  readonly #socket: TLSSocket
  readonly #limits: ListenerLimits
  readonly #resets: ResetLimit
  readonly #share: FairShare
  #peer: { readonly certificate: PeerCertificate; readonly authorized: boolean } | undefined
  #certificateRead = false
  #inProgress = 0
  /** The total number of requests so far. */
  #requests = 0
  #greeted = false

  /** State at the last sweep: */
  #requestsSeen = 0
  #idleSince: number
  #bytesSeen = 0
  #heardAt: number
  #pingedAt = 0
  #closedAt = 0

  constructor(session: ServerHttp2Session, socket: TLSSocket, { limits, turn }: Bounds) {
    this.#session = session
    this.#socket = socket
    this.#limits = limits
    this.#resets = new ResetLimit(limits)
    this.#share = new FairShare(turn)
    this.#idleSince = this.#heardAt = performance.now()
    session.once('remoteSettings', () => {
      this.#greeted = true
    })
  }

  /** Read once per session, not per request: it costs 35 µs. */
  get clientCertificate() {
    if (!this.#certificateRead) {
      this.#certificateRead = true
      const certificate = this.#socket.getPeerCertificate?.(true)
      if (certificate && Object.keys(certificate).length > 0)
        this.#peer = { certificate, authorized: this.#socket.authorized }
    }
    return this.#peer
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? ''
  }

  begin(request: Startable): void {
    this.#inProgress++
    this.#requests++
    this.#share.schedule(request)
  }

  /** Too many resets end the session. */
  end(reset: 'stream' | 'request' | undefined): void {
    this.#inProgress--
    if (reset && !this.#session.destroyed && !this.#resets.count(reset, performance.now()))
      this.#session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  /** Lets requests finish; accepts no new ones. */
  close(): void {
    this.#session.close()
  }

  destroy(): void {
    this.#session.destroy()
  }

  /** Closes an idle session, pings a silent peer, and cuts off one that does not respond. */
  sweep(now: number): void {
    const { headerTimeoutMs, idleTimeoutMs, pingAfterMs, pingTimeoutMs, lingerMs } = this.#limits
    if (this.#closedAt > 0) {
      if (now - this.#closedAt >= lingerMs) this.#socket.destroy()
      return
    }
    const { bytesRead } = this.#socket
    if (bytesRead !== this.#bytesSeen) {
      this.#bytesSeen = bytesRead
      this.#heardAt = now
      this.#pingedAt = 0
    }
    if (this.#inProgress > 0 || this.#requests !== this.#requestsSeen) {
      this.#requestsSeen = this.#requests
      this.#idleSince = now
    }
    if (!this.#greeted && now - this.#idleSince >= headerTimeoutMs) this.#socket.destroy()
    else if (now - this.#idleSince >= idleTimeoutMs) {
      this.#closedAt = now
      this.#session.close()
    } else if (this.#pingedAt > 0) {
      if (now - this.#pingedAt >= pingTimeoutMs) this.#socket.destroy()
    } else if (this.#inProgress > 0 && now - this.#heardAt >= pingAfterMs) {
      this.#pingedAt = now
      this.#session.ping(() => {})
    }
  }
}
