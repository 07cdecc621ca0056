/**
 * Small clients of both protocols for tests, on node's own modules: one request, one answer, or one stream of lines.
 */
import { type ClientHttp2Session, connect, constants } from 'node:http2'
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
  /** Rejects if the stream is cut off rather than ended. */
  readonly ended: Promise<void>
  cancel(): void
  pause(): void
  resume(): void
}

export interface Client {
  request(method: string, path: string, call?: Call): Promise<Answer>
  /** Calls back for each line, without its end. */
  lines(path: string, line: (text: string) => void): Stream
  close(): void
}

/** The JSON of an answer. */
export const json = <T = Json>({ bytes }: Answer): T => JSON.parse(bytes.toString()) as T

/** What tests read of answers. */
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
  /** A bearer token; the administrator's unless there is a certificate. Empty for none. */
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

function prepared(
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

/** One HTTP/2 connection. */
export function http2Client(
  t: TestContext,
  server: TestServer,
  credentials: Credentials = {},
): Client & { readonly session: ClientHttp2Session } {
  const { cert, key } = credentials
  // A wide window, as Go's client has: else the client's own flow control is what is measured.
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
  const open = (method: string, path: string, call: Call) => {
    const { headers, payload } = prepared(call, credentials)
    const stream = session.request(
      { ':method': method, ':path': path, ...headers },
      { endStream: payload === undefined },
    )
    if (payload !== undefined) stream.end(payload)
    return stream
  }
  return {
    session,
    request: (method, path, call = {}) =>
      new Promise((resolve, reject) => {
        const stream = open(method, path, call)
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
      }),
    lines(path, line) {
      const stream = open('GET', path, {})
      const status = new Promise<number>((resolve, reject) =>
        stream.on('response', (headers) => resolve(Number(headers[':status']))).on('error', reject),
      )
      stream.on('data', lineReader(line))
      const ended = new Promise<void>((resolve, reject) => {
        let whole = false
        stream.on('end', () => {
          whole = true
        })
        stream.on('error', reject)
        stream.on('close', () =>
          whole && stream.rstCode === constants.NGHTTP2_NO_ERROR
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
    },
    close: () => session.destroy(),
  }
}

/** Connections of HTTP/1.1 that are kept alive. */
export function http1Client(t: TestContext, server: TestServer, credentials: Credentials = {}): Client {
  const { cert, key } = credentials
  const agent = new Agent({ keepAlive: true, ca: authority.cert, cert, key })
  t.after(() => agent.destroy())
  const open = (method: string, path: string, call: Call) => {
    const { headers, payload } = prepared(call, credentials)
    const asked = httpsRequest(server.url, {
      method,
      path,
      headers: { ...headers, ...(payload !== undefined && { 'content-length': String(Buffer.byteLength(payload)) }) },
      agent,
    })
    asked.end(payload)
    return asked
  }
  return {
    request: (method, path, call = {}) =>
      new Promise((resolve, reject) => {
        const asked = open(method, path, call)
        asked.on('error', reject)
        asked.on('response', (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
          )
        })
      }),
    lines(path, line) {
      const asked = open('GET', path, {})
      const response = new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
        asked.on('response', resolve).on('error', reject),
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
      const later = (act: (message: import('node:http').IncomingMessage) => unknown) => () =>
        void response.then(act, () => {})
      return {
        status,
        ended,
        cancel: () => asked.destroy(),
        pause: later((message) => message.pause()),
        resume: later((message) => message.resume()),
      }
    },
    close: () => agent.destroy(),
  }
}

/** Cuts a stream of chunks into lines. */
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

/** Resolves when `condition` holds; rejects after `ms`, naming what was waited for. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
