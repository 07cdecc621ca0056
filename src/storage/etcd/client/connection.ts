/** A connection to one endpoint: calls of gRPC. Ends by itself if the endpoint does not answer. */
import type { Endpoint } from './endpoint.ts'
import { EtcdError, errorOfStatus } from './etcd-error.ts'
import { FrameReader, framed, prefixBytes } from './grpc-frames.ts'
import { ClientSession } from './http2/client-session.ts'
import type { ClientStream, StreamEnd } from './http2/client-stream.ts'
import type { Headers } from './http2/hpack/header-decoder.ts'
import { encodeHeaders } from './http2/hpack/header-encoder.ts'

/** The callbacks of a stream. */
export interface StreamObserver {
  message(bytes: Buffer): void
  /** The stream has ended. No further calls follow. */
  end(error: EtcdError): void
  /** Called in place of `end` if etcd has sent everything, for streams that are not endless. */
  done?(): void
}

export interface RpcStream {
  send(message: Uint8Array): void
  /** Says that no more messages will be sent. */
  finish(): void
  /** Stops reading until `resume`, so that etcd stops sending. */
  pause(): void
  resume(): void
  /** Ends the stream without a call of `end`. */
  close(): void
}

interface Call {
  readonly stream: ClientStream
  readonly started: number
  /** Infinity for streams. */
  readonly deadline: number
  fail(error: EtcdError): void
}

interface CallEvents {
  data(chunk: Buffer): void
  failed(error: EtcdError): void
  done(): void
}

/** Large answers need few round trips. In bytes. */
const streamWindow = 4 * 1024 * 1024
const sessionWindow = 32 * 1024 * 1024
/** Interval at which calls in progress are checked, in ms. */
const checkMs = 250
/** A call without any bytes from the endpoint for this time causes a ping, in ms. */
const silenceMs = 1_500
/** An endpoint without calls is pinged at this interval, in ms. */
const idlePingMs = 15_000
/** etcd ends connections that ping more often (`--grpc-keepalive-min-time`), in ms. */
const minPingMs = 5_000
/** Time for the answer to a ping, in ms. */
const pingAnswerMs = 2_000

const commonHeaders = [
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
  ['user-agent', 'typernetes'],
  // A member that has lost its leader ends calls instead of answering late.
  ['hasleader', 'true'],
] as const

export class Connection {
  readonly endpoint: Endpoint
  readonly #session: ClientSession
  /** Encoded headers without metadata, by the method's path. */
  readonly #headers = new Map<string, Buffer>()
  readonly #calls = new Set<Call>()
  #timer: NodeJS.Timeout | undefined
  #lastHeard = performance.now()
  #lastPing = 0
  #isPingPending = false
  /** True once the endpoint has sent something in HTTP/2. */
  isHttp2 = false
  /** Resolves once connected, rejects with the cause if that fails. */
  readonly opened: Promise<void>

  constructor(endpoint: Endpoint, timeoutMs: number) {
    this.endpoint = endpoint
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.opened = promise
    const timer = setTimeout(() => this.#fail(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
    const socket = endpoint.connect().once(endpoint.scheme === 'https' ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      this.#lastHeard = performance.now()
      this.#session.start()
      resolve()
    })
    this.#session = new ClientSession({
      socket,
      streamWindow,
      sessionWindow,
      settings: () => {
        this.isHttp2 = true
      },
      closed: (error) => {
        clearTimeout(timer)
        clearInterval(this.#timer)
        reject(error ?? new Error('the connection was closed'))
      },
    })
  }

  /** True if calls may be started. */
  get isUsable(): boolean {
    return !this.#session.isClosing
  }

  /** Returns the answer's message. Rejects with EtcdError. */
  unary(path: string, message: Uint8Array, timeoutMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      const call = this.#start(path, timeoutMs, {
        data: (chunk) => chunks.push(chunk),
        failed: reject,
        done: () => {
          const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
          resolve(body.subarray(prefixBytes))
        },
      })
      call?.stream.finish(framed(message))
    })
  }

  /** Starts a call with messages in both directions. */
  stream(path: string, observer: StreamObserver): RpcStream {
    const reader = new FrameReader()
    const call = this.#start(path, Infinity, {
      data: (chunk) => {
        this.#lastHeard = performance.now()
        for (const message of reader.push(chunk)) if (call && this.#calls.has(call)) observer.message(message)
      },
      failed: (error) => observer.end(error),
      done: () => {
        if (observer.done) observer.done()
        else observer.end(new EtcdError('Unavailable', 'the stream was ended by etcd', { mayHaveRun: true }))
      },
    })
    return {
      send: (message) => call?.stream.send(framed(message)),
      finish: () => call?.stream.finish(),
      pause: () => call?.stream.pause(),
      resume: () => call?.stream.resume(),
      close: () => {
        if (call && this.#calls.delete(call)) call.stream.cancel()
      },
    }
  }

  /** Lets running calls finish, then ends the connection. */
  retire(): void {
    this.#session.close()
  }

  /** Ends the connection and its calls. */
  destroy(): void {
    this.#fail(new Error('the connection was closed'))
  }

  /** Starts a call; `failed` is called later, never before this returns. Undefined if that is impossible. */
  #start(path: string, timeoutMs: number, events: CallEvents): Call | undefined {
    if (!this.isUsable) {
      const error = this.#unavailable({ mayHaveRun: false })
      setImmediate(() => events.failed(error))
      return undefined
    }
    const started = performance.now()
    let status: number | undefined
    let message = ''
    const stream = this.#session.request(this.#headersOf(path), {
      headers: (headers) => {
        this.#lastHeard = performance.now()
        status ??= statusIn(headers)
        message ||= decoded(headers.get('grpc-message'))
      },
      data: events.data,
      closed: (end) => {
        if (status === undefined) call.fail(this.#unavailable(end))
        else if (status > 0) call.fail(errorOfStatus(status, message))
        else if (this.#calls.delete(call)) events.done()
      },
    })
    const call: Call = {
      stream,
      started,
      deadline: started + timeoutMs,
      fail: (error) => {
        if (!this.#calls.delete(call)) return
        stream.cancel()
        events.failed(error)
      },
    }
    this.#calls.add(call)
    this.#timer ??= setInterval(() => this.#check(), checkMs).unref()
    return call
  }

  #headersOf(path: string): Buffer {
    const { scheme, authority, metadata } = this.endpoint
    let block = this.#headers.get(path)
    if (!block) {
      block = encodeHeaders([
        [':method', 'POST'],
        [':scheme', scheme],
        [':authority', authority],
        [':path', path],
        ...commonHeaders,
      ])
      this.#headers.set(path, block)
    }
    return metadata ? Buffer.concat([block, encodeHeaders(Object.entries(metadata()))]) : block
  }

  #unavailable({ mayHaveRun, cause }: StreamEnd): EtcdError {
    const reason = cause?.message ?? 'the connection was closed'
    return new EtcdError('Unavailable', `etcd at ${this.endpoint.url} is not reachable: ${reason}`, {
      mayHaveRun,
      cause,
    })
  }

  /** Ends calls whose time is over, and pings an endpoint that is silent. */
  #check(): void {
    const now = performance.now()
    let oldest = Infinity
    for (const call of this.#calls) {
      if (call.deadline <= now) {
        const message = `etcd at ${this.endpoint.url} did not answer within ${Math.round(now - call.started)} ms`
        call.fail(new EtcdError('DeadlineExceeded', message, { mayHaveRun: true }))
      } else if (call.deadline !== Infinity) oldest = Math.min(oldest, call.started)
    }
    if (this.#calls.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const silence = now - Math.max(this.#lastHeard, oldest === Infinity ? this.#lastHeard : oldest)
    const isDue = oldest === Infinity ? now - this.#lastHeard >= idlePingMs : silence >= silenceMs
    if (this.#isPingPending) {
      if (now - this.#lastPing >= pingAnswerMs) this.#fail(new Error('no answer to a keep-alive ping'))
    } else if (isDue && now - this.#lastPing >= minPingMs) this.#ping(now)
  }

  #ping(now: number): void {
    this.#lastPing = now
    this.#isPingPending = true
    this.#session.ping(() => {
      this.#isPingPending = false
      this.#lastHeard = performance.now()
    })
  }

  #fail(cause: Error): void {
    this.#session.destroy(cause)
  }
}

function statusIn(headers: Headers): number | undefined {
  const status = headers.get('grpc-status')
  return status === undefined ? undefined : Number(status)
}

/** gRPC encodes messages like URLs. */
function decoded(message = ''): string {
  try {
    return decodeURIComponent(message)
  } catch {
    return message
  }
}
