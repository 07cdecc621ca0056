/**
 * What the listener knows of one HTTP/2 connection: its peer, the requests under way, and whether it is still of use.
 */
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
  #underWay = 0
  /** Requests so far. */
  #requests = 0
  #greeted = false

  /** As last swept: */
  #requestsSeen = 0
  #idleSince: number
  #bytesSeen = 0
  #heardAt: number
  #askedAt = 0
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

  /** Asked of a session once, not once a request: it costs 35 µs. */
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
    this.#underWay++
    this.#requests++
    this.#share.take(request)
  }

  /** Too many resets end the session. */
  end(reset: 'stream' | 'request' | undefined): void {
    this.#underWay--
    if (reset && !this.#session.destroyed && !this.#resets.count(reset, performance.now()))
      this.#session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  /** Lets requests finish; no new ones. */
  close(): void {
    this.#session.close()
  }

  destroy(): void {
    this.#session.destroy()
  }

  /** Closes an idle session, asks a silent peer whether it is there, and cuts off one that says nothing. */
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
      this.#askedAt = 0
    }
    if (this.#underWay > 0 || this.#requests !== this.#requestsSeen) {
      this.#requestsSeen = this.#requests
      this.#idleSince = now
    }
    if (!this.#greeted && now - this.#idleSince >= headerTimeoutMs) this.#socket.destroy()
    else if (now - this.#idleSince >= idleTimeoutMs) {
      this.#closedAt = now
      this.#session.close()
    } else if (this.#askedAt > 0) {
      if (now - this.#askedAt >= pingTimeoutMs) this.#socket.destroy()
    } else if (this.#underWay > 0 && now - this.#heardAt >= pingAfterMs) {
      this.#askedAt = now
      this.#session.ping(() => {})
    }
  }
}
