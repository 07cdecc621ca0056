/** HTTP/1.1 and HTTP/2 clients for tests, on Node's own modules, for single requests and streams of lines. */
import type { IncomingMessage } from 'node:http'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import type { TestContext } from 'node:test'
import { authority, type TestServer, token } from './api-server.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>
  readonly bytes: Buffer
}

export interface Call {
  readonly body?: string | Buffer | object
  readonly headers?: Readonly<Record<string, string>>
}

export interface Stream {
  readonly status: Promise<number>
  /** Rejects if the stream is aborted. */
  readonly ended: Promise<void>
  cancel(): void
  pause(): void
  resume(): void
}

export interface Client {
  request(method: string, path: string, call?: Call): Promise<Answer>
  /** Calls `line` for each line, without its end. */
  lines(path: string, line: (text: string) => void): Stream
  close(): void
}

/** Returns the JSON of a response. */
export const json = <T = Json>({ bytes }: Answer): T => JSON.parse(bytes.toString()) as T

/** The fields of responses that tests read. */
export interface Json {
  readonly kind?: string
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly metadata: {
    readonly name: string
    readonly resourceVersion: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: readonly Json[]
}

export interface Credentials {
  /** A bearer token, empty for none. Default: the administrator's, unless there is a certificate. */
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

type Protocol = 'HTTP/1.1' | 'HTTP/2'
export const protocols: readonly Protocol[] = ['HTTP/1.1', 'HTTP/2']

export const clientOf = (
  t: TestContext,
  protocol: Protocol,
  server: TestServer,
  credentials: Credentials = {},
): Client => (protocol === 'HTTP/2' ? http2Client(t, server, credentials) : http1Client(t, server, credentials))

function prepareCall(
  { body, headers }: Call,
  credentials: Credentials,
): { headers: Record<string, string>; payload: string | Buffer | undefined } {
  const bearer = credentials.token ?? (credentials.cert ? '' : token)
  const payload = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return {
    payload,
    headers: {
      ...(bearer && { authorization: `Bearer ${bearer}` }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  }
}

/** Returns a client with one HTTP/2 connection. */
export function http2Client(
  t: TestContext,
  server: TestServer,
  credentials: Credentials = {},
): Client & { readonly session: ClientHttp2Session } {
  const { cert, key } = credentials
  // A large window, as Go's client has: otherwise the client's own flow control is the bottleneck.
  const session = connect(server.url, {
    ca: authority.cert,
    cert,
    key,
    settings: { initialWindowSize: 4 * 1024 * 1024 },
    maxSessionMemory: 1000,
  })
  session.on('connect', () => session.setLocalWindowSize(1024 * 1024 * 1024))
  session.on('error', () => {})
  t.after(() => session.destroy())
  const open = (method: string, path: string, call: Call): ClientHttp2Stream => {
    const { headers, payload } = prepareCall(call, credentials)
    const stream = session.request(
      { ':method': method, ':path': path, ...headers },
      { endStream: payload === undefined },
    )
    if (payload !== undefined) stream.end(payload)
    return stream
  }
  return {
    session,
    request: (method, path, call = {}) => answerOf(open(method, path, call)),
    lines: (path, line) => linesOf(open('GET', path, {}), line),
    close: () => session.destroy(),
  }
}

/** Resolves with the whole answer when the stream is closed. */
function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let headers: Answer['headers'] = {}
    stream.on('response', (received) => {
      headers = received as Answer['headers']
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => {
      if (headers[':status'] === undefined || stream.rstCode !== constants.NGHTTP2_NO_ERROR)
        return reject(new Error(`the stream was reset with ${stream.rstCode}`))
      resolve({ status: Number(headers[':status']), headers, bytes: Buffer.concat(chunks) })
    })
  })
}

/** Calls `line` for each line of the answer. */
function linesOf(stream: ClientHttp2Stream, line: (text: string) => void): Stream {
  const status = new Promise<number>((resolve, reject) =>
    stream.on('response', (headers) => resolve(Number(headers[':status']))).on('error', reject),
  )
  stream.on('data', lineReader(line))
  const ended = new Promise<void>((resolve, reject) => {
    let hasEnded = false
    stream.on('end', () => {
      hasEnded = true
    })
    stream.on('error', reject)
    stream.on('close', () =>
      hasEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR
        ? resolve()
        : reject(new Error(`the stream was reset with ${stream.rstCode}`)),
    )
  })
  for (const promise of [status, ended]) promise.catch(() => {})
  return {
    status,
    ended,
    cancel: () => stream.close(constants.NGHTTP2_CANCEL),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
  }
}

/** Returns a client with HTTP/1.1 keep-alive connections. */
export function http1Client(t: TestContext, server: TestServer, credentials: Credentials = {}): Client {
  const { cert, key } = credentials
  const agent = new Agent({ keepAlive: true, ca: authority.cert, cert, key })
  t.after(() => agent.destroy())
  const open = (method: string, path: string, call: Call) => {
    const { headers, payload } = prepareCall(call, credentials)
    const request = httpsRequest(server.url, {
      method,
      path,
      headers: { ...headers, ...(payload !== undefined && { 'content-length': String(Buffer.byteLength(payload)) }) },
      agent,
    })
    request.end(payload)
    return request
  }
  return {
    request: (method, path, call = {}) =>
      new Promise((resolve, reject) => {
        const request = open(method, path, call)
        request.on('error', reject)
        request.on('response', (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
          )
        })
      }),
    lines(path, line) {
      const request = open('GET', path, {})
      const response = new Promise<IncomingMessage>((resolve, reject) =>
        request.on('response', resolve).on('error', reject),
      )
      const status = response.then(({ statusCode }) => statusCode ?? 0)
      const ended = response.then(
        (message) =>
          new Promise<void>((resolve, reject) => {
            message.on('data', lineReader(line))
            message.on('end', resolve)
            message.on('error', reject)
          }),
      )
      for (const promise of [status, ended]) promise.catch(() => {})
      const whenResponded = (act: (message: IncomingMessage) => unknown) => () => void response.then(act, () => {})
      return {
        status,
        ended,
        cancel: () => request.destroy(),
        pause: whenResponded((message) => message.pause()),
        resume: whenResponded((message) => message.resume()),
      }
    },
    close: () => agent.destroy(),
  }
}

/** Returns a function that splits chunks into lines. */
function lineReader(line: (text: string) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end))
      line(Buffer.concat(parts).toString())
      parts = []
      start = end + 1
    }
    if (start < chunk.length) parts.push(chunk.subarray(start))
  }
}

/** Resolves when `condition` returns true. Rejects after `ms` with `what` in the message. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`timed out after ${ms} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
