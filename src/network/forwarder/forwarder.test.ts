/** Real sockets on loopback. Needs Linux, and no privileges. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { Forwarder } from './forwarder.ts'
import { type Listener, listenerKey, type Target } from './listener.ts'

const forwarder = new Forwarder()
after(() => forwarder.stop())
const loopback = '127.0.0.1'

async function serve(handle: (socket: Socket) => void): Promise<{ server: Server; target: Target }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => handle(socket.on('error', () => {})))
  server.listen(0, loopback)
  await once(server, 'listening')
  after(() => server.close())
  return { server, target: { address: loopback, port: (server.address() as AddressInfo).port } }
}

/** A port that is free now. */
async function freePort(): Promise<number> {
  const { server, target } = await serve(() => {})
  server.close()
  return target.port
}

async function listen(targets: readonly Target[], more: Partial<Listener> = {}): Promise<Listener> {
  const port = await freePort()
  const listener: Listener = { protocol: 'TCP', address: loopback, port, group: String(port), targets, ...more }
  assert.deepEqual(await forwarder.set([listener], []), [])
  return listener
}

/** All that a server sends, or the code of the error. */
async function answerOf(port: number): Promise<string> {
  const socket = connect(port, loopback)
  const chunks: Buffer[] = []
  try {
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

test('all bytes arrive in both directions, with slow readers and after half of the connection is closed', async () => {
  // The server answers when it has all bytes, and reads slowly at first.
  const { target } = await serve((socket) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      socket.pause()
      setImmediate(() => socket.resume())
    })
    socket.on('end', () => socket.end(Buffer.concat(chunks)))
  })
  const { port } = await listen([target])
  const sent = Buffer.alloc(20_000_000, Array.from({ length: 997 }, (_, i) => String.fromCharCode(i % 251)).join(''))
  const socket = connect({ port, host: loopback, allowHalfOpen: true })
  socket.end(sent)
  const hash = createHash('sha256')
  for await (const chunk of socket) hash.update(chunk as Buffer)
  assert.equal(hash.digest('hex'), createHash('sha256').update(sent).digest('hex'))
})

test('a target that refuses is replaced by the next one, and without any the client gets a reset', async () => {
  const { target } = await serve((socket) => socket.end('works'))
  const dead = { address: loopback, port: await freePort() }
  const { port } = await listen([dead, target])
  assert.deepEqual([await answerOf(port), await answerOf(port)], ['works', 'works'])
  const none = await listen([dead])
  assert.equal(await answerOf(none.port), 'ECONNRESET')
})

test('a reset of one side resets the other one', async () => {
  const { target } = await serve((socket) => socket.resetAndDestroy())
  const { port } = await listen([target])
  assert.equal(await answerOf(port), 'ECONNRESET')
})

test('a change of targets leaves open connections alone, and a removed listener refuses new ones', async () => {
  const answering = (name: string) =>
    serve((socket) => socket.on('data', () => socket.write(name)).on('end', () => socket.end()))
  const [first, second] = [await answering('first'), await answering('second')]
  const listener = await listen([first.target])
  const ask = async (socket: Socket): Promise<string> => {
    socket.write('?')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString()
  }
  const open = connect(listener.port, loopback)
  assert.equal(await ask(open), 'first')
  await forwarder.set([{ ...listener, targets: [second.target] }], [])
  const other = connect(listener.port, loopback)
  assert.equal(await ask(other), 'second')
  await forwarder.set([], [listenerKey(listener)])
  assert.deepEqual(
    [await ask(open), await ask(other), await answerOf(listener.port)],
    ['first', 'second', 'ECONNREFUSED'],
  )
  for (const socket of [open, other]) socket.destroy()
})

test('clients outside of the allowed ranges get no answer', async () => {
  const { target } = await serve((socket) => socket.end('works'))
  const listener = await listen([target], { allowed: [['192.0.2.0/24']] })
  const socket = connect(listener.port, loopback)
  const answer = once(socket, 'data') as Promise<[Buffer]>
  // The first packet is dropped, and the kernel repeats it.
  await new Promise(setImmediate)
  await forwarder.set([{ ...listener, allowed: [['127.0.0.0/8']] }], [])
  assert.equal(String((await answer)[0]), 'works')
})

test('UDP flows have one target until it is removed', async () => {
  const targets = [await echo('a'), await echo('b')] as const
  const listener = await listen(targets, { protocol: 'UDP' })
  const socket = createSocket('udp4')
  after(() => socket.close())
  const ask = async (): Promise<string> => {
    socket.send('?', listener.port, loopback)
    const [answer] = (await once(socket, 'message')) as [Buffer]
    return answer.toString()
  }
  const name = await ask()
  assert.equal(await ask(), name)
  const other = targets[name === 'a' ? 1 : 0]
  await forwarder.set([{ ...listener, targets: [other] }], [])
  assert.equal(await ask(), name === 'a' ? 'b' : 'a')
})

async function echo(name: string): Promise<Target> {
  const socket: UdpSocket = createSocket('udp4', (_, { port, address }) => socket.send(name, port, address))
  socket.bind(0, loopback)
  await once(socket, 'listening')
  after(() => socket.close())
  return { address: loopback, port: socket.address().port }
}

test('a port of another process is reported, and works after the next attempt', async () => {
  const { server, target } = await serve(() => {})
  const { target: answering } = await serve((socket) => socket.end('works'))
  const listener: Listener = { ...target, protocol: 'TCP', group: 'taken', targets: [answering] }
  assert.deepEqual(await forwarder.set([listener], []), [{ key: listenerKey(listener), code: 'EADDRINUSE' }])
  server.close()
  assert.deepEqual(await forwarder.set([listener], []), [])
  assert.equal(await answerOf(target.port), 'works')
})

test('the end closes connections and ports', async () => {
  const { target } = await serve((socket) => socket.write('open'))
  const own = new Forwarder()
  const port = await freePort()
  await own.set([{ protocol: 'TCP', address: loopback, port, group: 'end', targets: [target] }], [])
  const socket = connect(port, loopback)
  await once(socket, 'data')
  const failed = once(socket, 'error') as Promise<[NodeJS.ErrnoException]>
  await own.stop()
  assert.equal((await failed)[0].code, 'ECONNRESET')
  assert.equal(await answerOf(port), 'ECONNREFUSED')
  await assert.rejects(own.set([], []), /the thread of the forwarder has ended/)
})
