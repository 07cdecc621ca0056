/** A client of a cancel storm: sends a request over HTTP/1.1 or HTTP/2 and cancels it at a given time. */
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import type { Random } from '../../fuzz/random.ts'
import { adminToken } from './flags.ts'
import type { StormRequest } from './requests.ts'

/** When a client cancels. `afterMs` counts from the time when the request is sent. */
export interface Cancellation {
  readonly afterMs: number
  /** Cancels when the response begins, if that is earlier. */
  readonly atFirstByte: boolean
  /** Sends only half of the body. */
  readonly halfBody: boolean
  /** Closes the whole connection with all its requests, not only this request. */
  readonly withConnection: boolean
  /** Stores the whole response, not only its beginning. */
  readonly whole?: boolean
}

/** A client that does not cancel; if it waits longer than this, that is a fault. */
export const patient: Cancellation = { afterMs: 30_000, atFirstByte: false, halfBody: false, withConnection: true }

export function randomCancellation(random: Random): Cancellation {
  const afterMs = random.one(
    () => 0,
    () => random.below(10),
    () => random.below(100),
    () => random.below(1500),
    () => 4000,
  )
  return { afterMs, atFirstByte: random.chance(0.2), halfBody: random.chance(0.1), withConnection: random.chance(0.2) }
}

export interface Outcome {
  /** Undefined if the client cancelled before it, or the connection ended. */
  readonly status: number | undefined
  readonly text: string
  /** True if the client cancelled. */
  readonly left: boolean
}

const keptCharacters = 1000

export class StormClient {
  readonly #url: URL
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  #session: ClientHttp2Session | undefined
  #strangers = 0

  constructor(url: string) {
    this.#url = new URL(url)
  }

  close(): void {
    this.#agent.destroy()
    this.#session?.destroy()
  }

  /** Never rejects. */
  send(request: StormRequest, protocol: 'h1' | 'h2', leaving: Cancellation): Promise<Outcome> {
    return protocol === 'h2' && !request.upgrade ? this.#overHttp2(request, leaving) : this.#overHttp1(request, leaving)
  }

  #headers({ headers, body, asStranger }: StormRequest): Record<string, string | number> {
    const token = asStranger ? `hook-${this.#strangers++ % 50}` : adminToken
    return { authorization: `Bearer ${token}`, ...headers, ...(body && { 'content-length': Buffer.byteLength(body) }) }
  }

  #overHttp1(request: StormRequest, leaving: Cancellation): Promise<Outcome> {
    const { method, path, body = '', upgrade } = request
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const sent = httpsRequest(new URL(path, this.#url), {
      method,
      agent: upgrade ? false : this.#agent,
      rejectUnauthorized: false,
      headers: { ...this.#headers(request), ...(upgrade && upgradeHeaders(upgrade, path)) },
    })
    let status: number | undefined
    let text = ''
    let left = false
    const cancel = (): void => {
      left = true
      sent.socket?.destroy()
      sent.destroy()
      resolve({ status, text, left })
    }
    const timer = setTimeout(cancel, leaving.afterMs)
    const end = (): void => {
      clearTimeout(timer)
      resolve({ status, text, left })
    }
    const begins = (isOver: boolean): void => {
      if (leaving.atFirstByte || isOver) cancel()
    }
    sent.on('error', end)
    sent.on('close', end)
    sent.on('upgrade', (response, socket, head) => {
      status = response.statusCode
      socket.on('error', () => {})
      socket.on('data', () => {})
      socket.on('close', end)
      text += head.toString('latin1')
      socket.write('hello')
      begins(leaving === patient)
    })
    sent.on('response', (response) => {
      status = response.statusCode
      response.on('error', () => {})
      response.on('data', (piece: Buffer) => {
        if (leaving.whole || text.length < keptCharacters) text += piece
        begins(leaving === patient && request.isLong === true)
      })
      response.on('end', end)
      begins(false)
    })
    if (leaving.halfBody && body.length > 1) sent.write(body.slice(0, body.length / 2))
    else sent.end(body)
    return promise
  }

  #overHttp2(request: StormRequest, leaving: Cancellation): Promise<Outcome> {
    const { method, path, body } = request
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const session = this.#openSession()
    const head = { ':method': method, ':path': path, ...this.#headers(request) }
    const stream = session.request(head, { endStream: body === undefined })
    let status: number | undefined
    let text = ''
    let left = false
    const cancel = (): void => {
      left = true
      if (leaving.withConnection && leaving !== patient) session.destroy()
      else stream.close(constants.NGHTTP2_CANCEL)
    }
    const timer = setTimeout(cancel, leaving.afterMs)
    stream.on('error', () => {})
    stream.on('close', () => {
      clearTimeout(timer)
      resolve({ status, text, left })
    })
    stream.on('response', (headers) => {
      status = headers[':status']
      if (leaving.atFirstByte) cancel()
    })
    stream.on('data', (piece: Buffer) => {
      if (leaving.whole || text.length < keptCharacters) text += piece
      if (leaving === patient && request.isLong) cancel()
    })
    if (body === undefined) return promise
    if (leaving.halfBody) stream.write(body.slice(0, body.length / 2))
    else stream.end(body)
    return promise
  }

  #openSession(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session
    const session = connect(this.#url, { rejectUnauthorized: false })
    session.on('error', () => {})
    session.setMaxListeners(0)
    this.#session = session
    return session
  }
}

function upgradeHeaders(upgrade: NonNullable<StormRequest['upgrade']>, path: string): Record<string, string> {
  const isForward = path.includes('/portforward')
  const tunnelled = isForward && upgrade === 'websocket'
  const protocol = tunnelled
    ? 'SPDY/3.1+portforward.k8s.io'
    : path.includes('/log')
      ? 'binary.k8s.io'
      : 'v5.channel.k8s.io'
  return {
    connection: 'Upgrade',
    upgrade,
    ...(upgrade === 'websocket' && {
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16, 'k').toString('base64'),
      'sec-websocket-protocol': protocol,
    }),
    ...(upgrade === 'SPDY/3.1' && {
      'x-stream-protocol-version': isForward ? 'portforward.k8s.io' : 'v4.channel.k8s.io',
    }),
  }
}
