/** Connections of clients that are joined to those of backends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { WaitGroup } from '../../http/wait-group.ts'
import { takeOver } from './take-over.ts'

/** The two ends of a connection. */
async function connection(t: TestContext): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const near = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  const [far] = (await once(server, 'connection')) as [Socket]
  for (const socket of [near, far]) t.after(() => void socket.destroy())
  far.on('error', () => {})
  return { near, far }
}

const incoming = { statusCode: 101, rawHeaders: [] } as unknown as IncomingMessage

async function join(t: TestContext, waitGroup = new WaitGroup()) {
  const [client, backend] = [await connection(t), await connection(t)]
  takeOver(incoming, backend.near, Buffer.alloc(0), waitGroup)(client.near, Buffer.alloc(0))
  return { client, backend }
}

/** A client's connection that takes data when the test lets it. */
class SlowClient extends Duplex {
  taken = ''
  #done: (() => void) | undefined

  override _read(): void {}

  override _write(data: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#done = () => {
      this.taken += data.toString()
      done()
    }
  }

  /** Resolves when everything was taken, and the end. */
  async takeAll(): Promise<void> {
    while (!this.writableFinished && !this.destroyed) {
      const done = this.#done
      this.#done = undefined
      done?.()
      await new Promise(setImmediate)
    }
  }
}

for (const [way, error] of [
  ['closes', undefined],
  ['resets', new Error('reset')],
] as const)
  test(`a slow client gets the exit status of a backend that ${way} its connection`, async () => {
    const client = new SlowClient()
    const backend = new Duplex({ read() {}, write: (_data, _encoding, done) => done() })
    takeOver(incoming, backend, Buffer.alloc(0), new WaitGroup())(client, Buffer.alloc(0))
    backend.push('output ')
    backend.push('status')
    await new Promise(setImmediate)
    backend.destroy(error)
    await once(backend, 'close').catch(() => {})
    await client.takeAll()
    assert.match(client.taken, /^HTTP\/1\.1 101 .*output status$/s)
    assert.ok(client.writableFinished)
  })

test('a client that leaves ends the connection to the backend', async (t) => {
  const { client, backend } = await join(t)
  client.far.destroy()
  await once(backend.far.resume(), 'end')
})

test('a server that stops ends both connections', async (t) => {
  const waitGroup = new WaitGroup()
  const { client, backend } = await join(t, waitGroup)
  const ended = Promise.all([once(client.near, 'close'), once(backend.near, 'close')])
  await waitGroup.stop(0)
  await ended
})
