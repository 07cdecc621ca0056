/** An HTTP/2 connection of a torture client, with requests and streams of lines. It ends when the server is killed. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'

export interface Answer {
  readonly status: number
  readonly text: string
  /** Time at which the last byte arrived. */
  readonly at: number
}

export interface LineStream {
  readonly status: Promise<number>
  /** Resolves to true if the server ended the stream, false if it was cut off. Never rejects. */
  readonly ended: Promise<boolean>
  cancel(): void
  pause(): void
  resume(): void
}

/** There was no response, because the server was killed. */
export class NoAnswerError extends Error {
  constructor(path: string, why: string) {
    super(`no answer to ${path}: ${why}`)
    this.name = 'NoAnswerError'
  }
}

/** There was no response in time although the server runs. */
export class LateAnswerError extends NoAnswerError {
  constructor(path: string, timeoutMs: number, soFar: string) {
    super(path, `not within ${timeoutMs} ms, ${soFar}`)
    this.name = 'LateAnswerError'
  }
}

/** A slower response is a fault. A full list with hundreds of writers is slow on a busy machine. */
const longestAnswerMs = 180_000

const windowBytes = 8 * 1024 * 1024

export class Connection {
  readonly name: string
  readonly #session: ClientHttp2Session
  readonly #token: string

  constructor(name: string, url: string, token: string) {
    this.name = name
    this.#token = token
    this.#session = connect(url, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: windowBytes, enablePush: false },
      maxSessionMemory: 1000,
    })
    this.#session.on('connect', () => this.#session.setLocalWindowSize(1024 * 1024 * 1024))
    this.#session.on('error', () => {})
  }

  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  close(): void {
    this.#session.destroy()
  }

  /** Rejects with NoAnswerError if the response is incomplete, with LateAnswerError after `timeoutMs`. */
  request(method: string, path: string, body?: object, timeoutMs = longestAnswerMs): Promise<Answer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    return new Promise((resolve, reject) => {
      const stream = this.#open(method, path, body === undefined ? {} : { 'content-type': type }, body === undefined)
      if (!stream) return reject(new NoAnswerError(path, 'the connection is closed'))
      let late = false
      const timer = setTimeout(() => {
        late = true
        stream.close(constants.NGHTTP2_CANCEL)
      }, timeoutMs)
      const chunks: Buffer[] = []
      let status = 0
      let whole = false
      let last = 0
      const soFar = (): string => {
        const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
        return status
          ? `status ${status} and ${bytes} bytes so far, the last ${Math.round(performance.now() - last)} ms ` +
              `ago, on connection ${this.name}`
          : `and no status, on connection ${this.name}`
      }
      stream.on('response', (headers) => {
        last = performance.now()
        status = Number(headers[':status'])
      })
      stream.on('data', (chunk: Buffer) => {
        last = performance.now()
        chunks.push(chunk)
      })
      stream.on('end', () => {
        // Streams also end when the server is killed.
        whole = this.isOpen
      })
      stream.on('error', () => {})
      stream.on('close', () => {
        clearTimeout(timer)
        if (whole && status && stream.rstCode === constants.NGHTTP2_NO_ERROR)
          resolve({ status, text: Buffer.concat(chunks).toString(), at: performance.now() })
        else
          reject(
            late ? new LateAnswerError(path, timeoutMs, soFar()) : new NoAnswerError(path, 'the connection was cut'),
          )
      })
      if (body !== undefined) stream.end(JSON.stringify(body))
    })
  }

  /** Gets a stream of lines. */
  lines(path: string, line: (text: string, at: number) => void): LineStream {
    const stream = this.#open('GET', path, {}, true)
    if (!stream)
      return { status: Promise.resolve(0), ended: Promise.resolve(false), cancel() {}, pause() {}, resume() {} }
    const { promise: status, resolve: answered } = Promise.withResolvers<number>()
    const { promise: ended, resolve: end } = Promise.withResolvers<boolean>()
    let whole = false
    stream.on('response', (headers) => answered(Number(headers[':status'])))
    stream.on('data', lineReader(line))
    stream.on('end', () => {
      whole = this.isOpen
    })
    stream.on('error', () => {})
    stream.on('close', () => {
      answered(0)
      end(whole && stream.rstCode === constants.NGHTTP2_NO_ERROR)
    })
    return {
      status,
      ended,
      cancel: () => stream.close(constants.NGHTTP2_CANCEL),
      pause: () => stream.pause(),
      resume: () => stream.resume(),
    }
  }

  #open(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    endStream: boolean,
  ): ClientHttp2Stream | undefined {
    if (!this.isOpen) return undefined
    return this.#session.request(
      {
        ':method': method,
        ':path': path,
        authorization: `Bearer ${this.#token}`,
        accept: 'application/json',
        ...headers,
      },
      { endStream },
    )
  }
}

/** Splits a stream of chunks into lines. An unfinished last line is dropped. */
function lineReader(line: (text: string, at: number) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  return (chunk) => {
    const at = performance.now()
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end))
      line(parts.length === 1 ? parts[0]!.toString() : Buffer.concat(parts).toString(), at)
      parts = []
      start = end + 1
    }
    if (start < chunk.length) parts.push(chunk.subarray(start))
  }
}
