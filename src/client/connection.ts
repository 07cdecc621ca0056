/** One HTTP/2 connection to an API server, made when first needed and made again when it is lost; all requests and watches share it. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'

/** How to reach a server. */
export interface ServerAccess {
  readonly url: string
  /** PEM bundle that the server's certificate is checked against. */
  readonly ca: string
  /** A client certificate, where no token says who asks. */
  readonly cert?: string
  readonly key?: string
}

export interface ClientRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** The bearer token of who asks. */
  readonly token?: string
  /** The representation asked for; JSON unless said. */
  readonly accept?: string
  readonly contentType?: string
  readonly body?: Buffer
  /** Given up when this is aborted. */
  readonly signal?: AbortSignal
}

export interface ClientAnswer {
  readonly status: number
  readonly stream: ClientHttp2Stream
}

/** A server that accepts no connection is given up after this. Milliseconds. */
const connectTimeoutMs = 10_000
/** A connection on which nothing comes is asked whether it lives. Milliseconds. */
const pingMs = 30_000

export class Connection {
  readonly #access: ServerAccess
  #session: ClientHttp2Session | undefined
  #closed = false

  constructor(access: ServerAccess) {
    this.#access = access
  }

  /** Resolves with the head of the answer. Rejects with an Error when the server cannot be reached. */
  send({ method, path, token, accept = 'application/json', contentType, body, signal }: ClientRequest): Promise<ClientAnswer> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new Error(`${method} ${path} was given up`))
      const stream = this.#open().request(
        {
          ':method': method,
          ':path': path,
          accept,
          'user-agent': 't8s',
          ...(token && { authorization: `Bearer ${token}` }),
          ...(contentType && { 'content-type': contentType }),
          ...(body && { 'content-length': body.length }),
        },
        { endStream: !body },
      )
      const giveUp = (): void => stream.close(constants.NGHTTP2_CANCEL)
      signal?.addEventListener('abort', giveUp, { once: true })
      stream.on('response', (headers) => resolve({ status: headers[':status'] ?? 0, stream }))
      stream.on('error', reject)
      stream.on('close', () => {
        signal?.removeEventListener('abort', giveUp)
        reject(new Error(`${method} ${path} ended without an answer`))
      })
      if (body) stream.end(body)
    })
  }

  /** Ends the connection and what is under way on it. */
  close(): void {
    this.#closed = true
    this.#session?.destroy()
    this.#session = undefined
  }

  #open(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session
    if (this.#closed) throw new Error('the client is closed')
    const { url, ca, cert, key } = this.#access
    const session = connect(url, { ca, cert, key })
    const late = setTimeout(() => session.destroy(new Error(`${url} accepts no connection`)), connectTimeoutMs)
    const alive = setInterval(() => ping(session), pingMs).unref()
    session.on('connect', () => clearTimeout(late))
    session.on('close', () => {
      clearTimeout(late)
      clearInterval(alive)
    })
    // Each request is told of it, and the next one connects again.
    session.on('error', () => {})
    this.#session = session
    return session
  }
}

/** Ends a session whose other side does not answer any more. */
function ping(session: ClientHttp2Session): void {
  if (session.destroyed) return
  const late = setTimeout(() => session.destroy(new Error('the server does not answer any more')), pingMs).unref()
  session.ping(() => clearTimeout(late))
}
