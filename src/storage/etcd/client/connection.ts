/**
 * A connection to one endpoint: gRPC over HTTP/2 of Node, which takes half of the CPU of a gRPC library. Ends by itself
 * if the endpoint does not answer.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { Endpoint } from './endpoint.ts'
import { EtcdError, errorOfStatus } from './etcd-error.ts'
import { FrameReader, framed } from './grpc-frames.ts'

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
  readonly stream: ClientHttp2Stream
  readonly started: number
  /** Infinity for streams. */
  readonly deadline: number
  fail(error: EtcdError): void
}

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = constants
/** Large answers need few round trips. In bytes. */
const streamWindow = 4 * 1024 * 1024
const sessionWindow = 32 * 1024 * 1024
/** Megabytes that Node may hold for the session. */
const maxSessionMemory = 1000
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

const commonHeaders = {
  ':method': 'POST',
  'content-type': 'application/grpc',
  te: 'trailers',
  'user-agent': 'typernetes',
  // A member that has lost its leader ends calls instead of answering late.
  hasleader: 'true',
} as const

export class Connection {
  readonly endpoint: Endpoint
  readonly #session: ClientHttp2Session
  readonly #calls = new Set<Call>()
  #timer: NodeJS.Timeout | undefined
  #lastHeard = performance.now()
  #lastPing = 0
  #isPingPending = false
  #cause: Error | undefined
  /** True once the endpoint has sent something in HTTP/2. */
  isHttp2 = false
  /** Resolves once connected, rejects with the cause if that fails. */
  readonly opened: Promise<void>

  constructor(endpoint: Endpoint, timeoutMs: number) {
    this.endpoint = endpoint
    this.#session = connect(endpoint.authority, {
      ...endpoint.session,
      maxSessionMemory,
      settings: { initialWindowSize: streamWindow, enablePush: false },
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.opened = promise
    const timer = setTimeout(() => this.#fail(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
    this.#session
      .on('connect', () => {
        clearTimeout(timer)
        this.#session.setLocalWindowSize(sessionWindow)
        this.#lastHeard = performance.now()
        resolve()
      })
      .on('remoteSettings', () => {
        this.isHttp2 = true
      })
      .on('error', (error: Error) => {
        this.#cause ??= error
      })
      .on('close', () => {
        clearTimeout(timer)
        reject(this.#cause ?? new Error('the connection was closed'))
        this.#failCalls()
      })
  }

  /** True if calls may be started. */
  get isUsable(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  /** Returns the answer's message. Rejects with EtcdError. */
  unary(path: string, message: Uint8Array, timeoutMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      const call = this.#start(path, timeoutMs, reject, () => {
        const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
        resolve(body.subarray(5))
      })
      if (!call) return
      call.stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      call.stream.end(framed(message))
    })
  }

  /** Starts a call with messages in both directions. */
  stream(path: string, observer: StreamObserver): RpcStream {
    const reader = new FrameReader()
    const call = this.#start(
      path,
      Infinity,
      (error) => observer.end(error),
      () => {
        if (observer.done) observer.done()
        else observer.end(new EtcdError('Unavailable', 'the stream was ended by etcd', { mayHaveRun: true }))
      },
    )
    call?.stream.on('data', (chunk: Buffer) => {
      this.#lastHeard = performance.now()
      for (const message of reader.push(chunk)) if (this.#calls.has(call)) observer.message(message)
    })
    return {
      send: (message) => call?.stream.write(framed(message)),
      finish: () => call?.stream.end(),
      pause: () => call?.stream.pause(),
      resume: () => call?.stream.resume(),
      close: () => {
        if (call && this.#calls.delete(call)) call.stream.close(NGHTTP2_CANCEL)
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

  /** Starts a call; `reject` is called later, never before this returns. Undefined if that is impossible. */
  #start(path: string, timeoutMs: number, reject: (error: EtcdError) => void, done: () => void): Call | undefined {
    let stream: ClientHttp2Stream
    try {
      stream = this.#session.request({ ...commonHeaders, ...this.endpoint.metadata?.(), ':path': path })
    } catch (cause) {
      const error = this.#unavailable(false, cause)
      setImmediate(() => reject(error))
      return undefined
    }
    const started = performance.now()
    const call: Call = {
      stream,
      started,
      deadline: started + timeoutMs,
      fail: (error) => {
        if (!this.#calls.delete(call)) return
        stream.close(NGHTTP2_CANCEL)
        reject(error)
      },
    }
    let status: number | undefined
    let message = ''
    const readStatus = (headers: Record<string, unknown>) => {
      this.#lastHeard = performance.now()
      if (typeof headers['grpc-status'] !== 'string') return
      status = Number(headers['grpc-status'])
      message = decoded(headers['grpc-message'])
    }
    stream
      .on('response', readStatus)
      .on('trailers', readStatus)
      .on('error', () => {})
      .on('close', () => {
        if (status === undefined) call.fail(this.#unavailable(stream.rstCode !== NGHTTP2_REFUSED_STREAM))
        else if (status > 0) call.fail(errorOfStatus(status, message))
        else if (this.#calls.delete(call)) done()
      })
    this.#calls.add(call)
    this.#timer ??= setInterval(() => this.#check(), checkMs).unref()
    return call
  }

  #unavailable(mayHaveRun: boolean, cause: unknown = this.#cause): EtcdError {
    const reason = cause instanceof Error ? cause.message : 'the connection was closed'
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
    this.#session.ping((error) => {
      this.#isPingPending = false
      if (!error) this.#lastHeard = performance.now()
    })
  }

  #fail(cause: Error): void {
    this.#cause ??= cause
    this.#session.destroy()
  }

  #failCalls(): void {
    clearInterval(this.#timer)
    for (const call of this.#calls) call.fail(this.#unavailable(call.stream.rstCode !== NGHTTP2_REFUSED_STREAM))
  }
}

/** gRPC encodes messages like URLs. */
function decoded(message: unknown): string {
  if (typeof message !== 'string') return ''
  try {
    return decodeURIComponent(message)
  } catch {
    return message
  }
}
