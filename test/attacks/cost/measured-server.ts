/** A server in a process of its own, and how long each request keeps it from everything else. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { join } from 'node:path'
import type { Lifetime } from '../../support/test-cluster.ts'
import type { HeavyRequest } from './heavy-requests.ts'

export interface Held {
  /** The most CPU time that passed without a turn for other requests. */
  readonly cpuMs: number
  /** The same by the clock, which runs on while other processes have the core. */
  readonly clockMs: number
}

export interface Measured extends Held {
  /** 0 when the server did not answer. */
  readonly status: number
  readonly bytes: number
  /** How the answer begins. */
  readonly start: string
}

export interface MeasuredServer {
  send(request: HeavyRequest): Promise<Measured>
  /** How long the worst of the light requests took that were sent meanwhile. */
  sendBeside(request: HeavyRequest): Promise<Measured & { readonly lightMs: number }>
}

type Answer = Pick<Measured, 'status' | 'bytes' | 'start'>

const patienceMs = 180_000
const shownBytes = 1000

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

  const held = async (): Promise<Held> => {
    const answered = once(child, 'message') as Promise<[{ worst: Held }]>
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
      if (bytes === 0) start = chunk.subarray(0, shownBytes).toString()
      bytes += chunk.length
    })
    stream.on('error', () => {})
    stream.on('close', () => resolve({ status, bytes, start }))
    stream.setTimeout(patienceMs, () => stream.close())
    if (body !== undefined) stream.end(body)
    return promise
  }
  const send = async (request: HeavyRequest): Promise<Measured> => {
    await held()
    const answer = await exchange(request)
    return { ...answer, ...(await held()) }
  }
  return {
    send,
    async sendBeside(request) {
      let over = false
      let lightMs = 0
      const light = async (): Promise<void> => {
        while (!over) {
          const start = performance.now()
          await exchange({ method: 'GET', path: '/readyz' })
          lightMs = Math.max(lightMs, performance.now() - start)
        }
      }
      const watching = light()
      const measured = await send(request)
      over = true
      await watching
      return { ...measured, lightMs }
    },
  }
}
