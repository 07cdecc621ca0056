/** Both directions of all protocols: a reader that stops holds the writer, and gets everything when it goes on. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { ContainerStreams } from './container-streams.ts'
import { countingBytes, stalled } from './testing/stalled.fixture.ts'
import { connectSpdy, connectWebSocket, startStreamServer } from './testing/stream-server.fixture.ts'

const total = 48 * 1024 * 1024
/** The maximum size of the buffers of two sockets, of Node and of a stream. */
const most = 16 * 1024 * 1024
const piece = 32 * 1024
const sent = countingBytes(total)
const hashOf = (pieces: readonly Buffer[]): string => {
  const hash = createHash('sha256')
  for (const one of pieces) hash.update(one)
  return hash.digest('hex')
}
const expected = hashOf([sent])

/** Writes all data, as fast as the stream takes it. */
async function writeAll(stream: Writable, counter: { written: number }): Promise<void> {
  for (let at = 0; at < total; at += piece) {
    const isReady = stream.write(sent.subarray(at, at + piece))
    counter.written += piece
    if (!isReady) await once(stream, 'drain')
  }
}

/** Waits until the writer does, and checks that it has written little. */
async function assertHeld(counter: { readonly written: number }): Promise<void> {
  const held = await stalled(() => counter.written)
  assert.ok(held < most, `the writer has written ${held} bytes`)
}

/** A process that does not read before `proceed` is called, and then reads everything. */
function slowReader() {
  const going = Promise.withResolvers<void>()
  const hash = Promise.withResolvers<string>()
  const read = async (stream: Readable): Promise<void> => {
    await going.promise
    const pieces: Buffer[] = []
    let size = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      pieces.push(chunk)
      size += chunk.length
      if (size === total) break
    }
    hash.resolve(hashOf(pieces))
  }
  return { read, proceed: going.resolve, hash: hash.promise }
}

async function startWriter(t: TestContext) {
  const counter = { written: 0 }
  const streams: Partial<ContainerStreams> = {
    async exec(_container, _words, { stdout }) {
      await writeAll(stdout!, counter)
      return 0
    },
    portForward: (_pod, _port, connection) => writeAll(connection, counter),
  }
  return { counter, port: await startStreamServer(t, streams) }
}

test('output of exec over SPDY waits for the client', async (t) => {
  const { counter, port } = await startWriter(t)
  const client = await connectSpdy(t, port, '/exec?output=1', 'v5.channel.k8s.io')
  await client.open({ streamtype: 'error' })
  const stdout = await client.open({ streamtype: 'stdout' })
  client.socket.pause()
  await assertHeld(counter)
  client.socket.resume()
  await stdout.ended.promise
  assert.equal(hashOf(stdout.received), expected)
})

test('output of exec over a WebSocket waits for the client', async (t) => {
  const { counter, port } = await startWriter(t)
  const { socket, messages } = await connectWebSocket(t, port, '/exec?output=1', 'v5.channel.k8s.io')
  socket.pause()
  await assertHeld(counter)
  socket.resume()
  await once(socket, 'close')
  assert.equal(hashOf(messages.filter(([channel]) => channel === 1).map((one) => one.subarray(1))), expected)
})

test('data of a forwarded port waits for the client', async (t) => {
  const { counter, port } = await startWriter(t)
  const client = await connectSpdy(t, port, '/portForward', 'portforward.k8s.io')
  await client.open({ streamtype: 'error', port: '80', requestid: '0' })
  const data = await client.open({ streamtype: 'data', port: '80', requestid: '0' })
  client.socket.pause()
  await assertHeld(counter)
  client.socket.resume()
  await data.ended.promise
  assert.equal(hashOf(data.received), expected)
})

async function startReader(t: TestContext) {
  const reader = slowReader()
  const streams: Partial<ContainerStreams> = {
    async exec(_container, _words, { stdin }) {
      await reader.read(stdin!)
      return 0
    },
    portForward: (_pod, _port, connection) => reader.read(connection),
  }
  return { reader, port: await startStreamServer(t, streams) }
}

/** Writes all data; counts what the connection has taken. */
async function sendAll(send: (data: Buffer) => Promise<void>, counter: { written: number }): Promise<void> {
  for (let at = 0; at < total; at += piece) {
    await send(sent.subarray(at, at + piece))
    counter.written += piece
  }
}

test('input of exec over SPDY waits for the process', async (t) => {
  const { reader, port } = await startReader(t)
  const client = await connectSpdy(t, port, '/exec?input=1', 'v5.channel.k8s.io')
  await client.open({ streamtype: 'error' })
  const stdin = await client.open({ streamtype: 'stdin' })
  const counter = { written: 0 }
  const sending = sendAll((data) => stdin.write(data), counter)
  await assertHeld(counter)
  reader.proceed()
  await sending
  assert.equal(await reader.hash, expected)
})

test('input of exec over a WebSocket waits for the process', async (t) => {
  const { reader, port } = await startReader(t)
  const { socket } = await connectWebSocket(t, port, '/exec?input=1', 'v5.channel.k8s.io')
  const counter = { written: 0 }
  const send = (data: Buffer): Promise<void> =>
    new Promise((resolve) => socket.send(Buffer.concat([Buffer.of(0), data]), () => resolve()))
  const sending = sendAll(send, counter)
  await assertHeld(counter)
  reader.proceed()
  await sending
  assert.equal(await reader.hash, expected)
})

test('data for a forwarded port waits for the pod', async (t) => {
  const { reader, port } = await startReader(t)
  const client = await connectSpdy(t, port, '/portForward', 'portforward.k8s.io')
  await client.open({ streamtype: 'error', port: '80', requestid: '0' })
  const data = await client.open({ streamtype: 'data', port: '80', requestid: '0' })
  const counter = { written: 0 }
  const sending = sendAll((bytes) => data.write(bytes), counter)
  await assertHeld(counter)
  reader.proceed()
  await sending
  assert.equal(await reader.hash, expected)
})
