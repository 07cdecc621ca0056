/** A server in a child process, with a measurement of how long each request blocks its event loop. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { join } from 'node:path'
import type { Lifetime } from '../../support/test-cluster.ts'
import type { HeavyRequest } from './heavy-requests.ts'

export interface BlockedTime {
  /** The longest time the event loop was blocked, in CPU time. */
  readonly cpuMs: number
  /** The same in wall time, which includes the time that other processes use the core. */
  readonly clockMs: number
}

export interface Measured extends BlockedTime {
  /** 0 if the server did not answer. */
  readonly status: number
  readonly bytes: number
  /** The first bytes of the answer. */
  readonly start: string
}

type Answer = Pick<Measured, 'status' | 'bytes' | 'start'>

const timeoutMs = 180_000
const startBytes = 1000

export class MeasuredServer {
  readonly #child: ChildProcess
  readonly #port: number
  #session: ClientHttp2Session | undefined

  constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.#port = port
  }

  async send(request: HeavyRequest): Promise<Measured> {
    await this.#takeBlockedTime()
    const answer = await this.#exchange(request)
    return { ...answer, ...(await this.#takeBlockedTime()) }
  }

  /** Also sends light requests meanwhile; lightMs is the longest latency of these. */
  async sendBeside(request: HeavyRequest): Promise<Measured & { readonly lightMs: number }> {
    let done = false
    let lightMs = 0
    const sendLightRequests = async (): Promise<void> => {
      while (!done) {
        const start = performance.now()
        await this.#exchange({ method: 'GET', path: '/readyz' })
        lightMs = Math.max(lightMs, performance.now() - start)
      }
    }
    const lightRequests = sendLightRequests()
    const measured = await this.send(request).finally(() => {
      done = true
    })
    await lightRequests
    return { ...measured, lightMs }
  }

  stop(): void {
    this.#session?.destroy()
    this.#child.kill('SIGKILL')
  }

  /** Returns the blocked time since the last call. */
  async #takeBlockedTime(): Promise<BlockedTime> {
    const answered = once(this.#child, 'message') as Promise<[{ worst: BlockedTime }]>
    this.#child.send({})
    return (await answered)[0].worst
  }

  #exchange({ method, path, contentType, body }: HeavyRequest): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const stream = this.#connection().request(
      {
        ':method': method,
        ':path': path,
        authorization: 'Bearer heavy',
        ...(contentType && { 'content-type': contentType }),
      },
      { endStream: body === undefined },
    )
    let status = 0
    let bytes = 0
    let start = ''
    stream.on('response', (headers) => (status = Number(headers[':status'])))
    stream.on('data', (chunk: Buffer) => {
      if (bytes === 0) start = chunk.subarray(0, startBytes).toString()
      bytes += chunk.length
    })
    stream.on('error', () => {})
    stream.on('close', () => resolve({ status, bytes, start }))
    stream.setTimeout(timeoutMs, () => stream.close())
    if (body !== undefined) stream.end(body)
    return promise
  }

  /** Returns the current connection, or a new one if that is closed. */
  #connection(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session
    this.#session = connect(`https://127.0.0.1:${this.#port}`, { rejectUnauthorized: false })
    this.#session.on('error', () => {})
    return this.#session
  }
}

/** Starts the server. It ends with the test. */
export async function measuredServer(t: Lifetime): Promise<MeasuredServer> {
  const child = fork(join(import.meta.dirname, 'heavy-server.ts'), {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const server = new MeasuredServer(child, port)
  t.after(() => server.stop())
  return server
}
