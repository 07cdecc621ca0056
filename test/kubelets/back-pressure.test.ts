/** Streams through the API server to a kubelet: a reader that stops holds the writer at the other end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type RequestOptions, request } from 'node:https'
import type { Duplex, Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import type { ContainerStreams } from '../../src/node/streaming/container-streams.ts'
import { SpdyClient } from '../../src/node/streaming/testing/spdy-client.fixture.ts'
import { countingBytes, stalled } from '../../src/node/streaming/testing/stalled.fixture.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { lonely, startWorker } from './worker.ts'

const total = 64 * 1024 * 1024
/** The maximum size of the buffers of four sockets and of both processes. */
const most = 32 * 1024 * 1024
const piece = 32 * 1024
const sent = countingBytes(total)
const pod = '/api/v1/namespaces/default/pods/web'

/** A container whose process writes all data, or reads it after `proceed` was called. */
function container() {
  const counter = { written: 0 }
  const going = Promise.withResolvers<void>()
  const read = Promise.withResolvers<Buffer>()
  const writeAll = async (stream: Writable): Promise<void> => {
    for (let at = 0; at < total; at += piece) {
      const isReady = stream.write(sent.subarray(at, at + piece))
      counter.written += piece
      if (!isReady) await once(stream, 'drain')
    }
  }
  const readAll = async (stream: Readable): Promise<void> => {
    await going.promise
    const pieces: Buffer[] = []
    let size = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      pieces.push(chunk)
      size += chunk.length
      if (size === total) break
    }
    read.resolve(Buffer.concat(pieces))
  }
  const streams: ContainerStreams = {
    async exec(_container, _words, { stdin, stdout }) {
      await (stdin ? readAll(stdin) : writeAll(stdout!))
      return 0
    },
    attach: () => Promise.reject(new Error('no attach')),
    portForward: (_pod, _port, connection) => writeAll(connection),
  }
  return { counter, streams, proceed: going.resolve, read: read.promise }
}

async function startCluster(t: TestContext) {
  const cluster = await testCluster(t, lonely)
  const process = container()
  await startWorker(t, cluster, () => {}, process.streams)
  return { cluster, process }
}

const accessOf = ({ client: { ca, cert, key } }: TestCluster): RequestOptions => ({ ca, cert, key, agent: false })

/** Resolves with a connection that speaks SPDY. */
async function connectSpdy(t: TestContext, cluster: TestCluster, path: string, version: string): Promise<SpdyClient> {
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': version }
  const url = new URL(pod + path, cluster.url)
  const sending = request(url, { ...accessOf(cluster), method: 'POST', headers }).end()
  const [, socket, head] = (await once(sending, 'upgrade')) as [unknown, Duplex, Buffer]
  t.after(() => socket.destroy())
  return new SpdyClient(socket, head)
}

async function connectWebSocket(t: TestContext, cluster: TestCluster, path: string): Promise<WebSocket> {
  const { ca, cert, key, url } = { ...cluster.client, url: cluster.url }
  const socket = new WebSocket(url.replace('https', 'wss') + pod + path, 'v5.channel.k8s.io', { ca, cert, key })
  t.after(() => socket.terminate())
  await once(socket, 'open')
  return socket
}

async function assertHeld(counter: { readonly written: number }): Promise<void> {
  const held = await stalled(() => counter.written)
  assert.ok(held < most, `the writer has written ${held} bytes`)
}

test('output of exec over SPDY is held up in the container', async (t) => {
  const { cluster, process } = await startCluster(t)
  const client = await connectSpdy(t, cluster, '/exec?command=x&stdout=1', 'v4.channel.k8s.io')
  await client.open({ streamtype: 'error' })
  const stdout = await client.open({ streamtype: 'stdout' })
  client.socket.pause()
  await assertHeld(process.counter)
  client.socket.resume()
  await stdout.ended.promise
  assert.ok(Buffer.concat(stdout.received).equals(sent))
})

test('output of exec over a WebSocket is held up in the container', async (t) => {
  const { cluster, process } = await startCluster(t)
  const socket = await connectWebSocket(t, cluster, '/exec?command=x&stdout=1')
  const received: Buffer[] = []
  socket.on('message', (message: Buffer) => {
    if (message[0] === 1) received.push(message.subarray(1))
  })
  socket.pause()
  await assertHeld(process.counter)
  socket.resume()
  await once(socket, 'close')
  assert.ok(Buffer.concat(received).equals(sent))
})

test('input of exec is held up at the client', async (t) => {
  const { cluster, process } = await startCluster(t)
  const socket = await connectWebSocket(t, cluster, '/exec?command=x&stdin=1')
  const counter = { written: 0 }
  const sendAll = async (): Promise<void> => {
    for (let at = 0; at < total; at += piece) {
      const message = Buffer.concat([Buffer.of(0), sent.subarray(at, at + piece)])
      await new Promise((resolve) => socket.send(message, resolve))
      counter.written += piece
    }
  }
  const sending = sendAll()
  await assertHeld(counter)
  process.proceed()
  await sending
  assert.ok((await process.read).equals(sent))
})

test('data of a forwarded port is held up in the pod', async (t) => {
  const { cluster, process } = await startCluster(t)
  const client = await connectSpdy(t, cluster, '/portforward', 'portforward.k8s.io')
  await client.open({ streamtype: 'error', port: '80', requestid: '0' })
  const data = await client.open({ streamtype: 'data', port: '80', requestid: '0' })
  client.socket.pause()
  await assertHeld(process.counter)
  client.socket.resume()
  await data.ended.promise
  assert.ok(Buffer.concat(data.received).equals(sent))
})
