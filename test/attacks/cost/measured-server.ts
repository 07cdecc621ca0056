/** A server in a child process, with a measurement of how long each request blocks its event loop. */
import { fork } from 'node:child_process'
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

export interface MeasuredServer {
  send(request: HeavyRequest): Promise<Measured>
  /** Also sends light requests meanwhile; lightMs is the longest latency of these. */
  sendBeside(request: HeavyRequest): Promise<Measured & { readonly lightMs: number }>
}

type Answer = Pick<Measured, 'status' | 'bytes' | 'start'>

const timeoutMs = 180_000
const startBytes = 1000

export async function measuredServer(t: Lifetime): Promise<MeasuredServer> {
  const child = fork(join(import.meta.dirname, 'heavy-server.ts'), {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  let session: ClientHttp2Session | undefined
  const connection = (): ClientHttp2Session => {
    if (session && !session.closed && !session.destroyed) return session
    session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    session.on('error', () => {})
    return session
  }
  t.after(() => session?.destroy())

  const takeBlockedTime = async (): Promise<BlockedTime> => {
    const answered = once(child, 'message') as Promise<[{ worst: BlockedTime }]>
    child.send({})
    return (await answered)[0].worst
  }
  const exchange = async ({ method, path, contentType, body }: HeavyRequest): Promise<Answer> => {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const stream = connection().request(
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
  const send = async (request: HeavyRequest): Promise<Measured> => {
    await takeBlockedTime()
    const answer = await exchange(request)
    return { ...answer, ...(await takeBlockedTime()) }
  }
  return {
    send,
    async sendBeside(request) {
      let done = false
      let lightMs = 0
      const light = async (): Promise<void> => {
        while (!done) {
          const start = performance.now()
          await exchange({ method: 'GET', path: '/readyz' })
          lightMs = Math.max(lightMs, performance.now() - start)
        }
      }
      const lightRequests = light()
      const measured = await send(request)
      done = true
      await lightRequests
      return { ...measured, lightMs }
    },
  }
}
