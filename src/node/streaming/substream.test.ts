import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { finished } from 'node:stream/promises'
import { test } from 'node:test'
import { SpdyConnection } from './spdy/spdy-connection.ts'
import type { SpdyStream } from './spdy/spdy-stream.ts'
import { type Carrier, Substream } from './substream.ts'
import { SpdyClient } from './testing/spdy-client.fixture.ts'
import { stalled } from './testing/stalled.fixture.ts'

/** A carrier that has taken data when `take` is called. */
function heldCarrier() {
  const sent: (() => void)[] = []
  const closed = Promise.withResolvers<boolean>()
  const carrier: Carrier = {
    send: (_data, done) => void sent.push(done),
    sendEnd: (done) => done(),
    closed: closed.resolve,
  }
  return { carrier, closed: closed.promise, take: () => sent.shift()?.() }
}

test('a write is complete when the connection has taken it', async () => {
  const { carrier, closed, take } = heldCarrier()
  const stream = new Substream(carrier)
  let isWritten = false
  stream.write('a', () => (isWritten = true))
  await new Promise(setImmediate)
  assert.equal(isWritten, false)
  take()
  await new Promise(setImmediate)
  assert.equal(isWritten, true)
  stream.end()
  stream.deliverEnd()
  stream.resume()
  assert.equal(await closed, true, 'its end was announced')
})

test('the connection waits while the reader has more than 64 KB, and no longer than until it leaves', async () => {
  const stream = new Substream(heldCarrier().carrier)
  assert.equal(stream.deliver(Buffer.alloc(32 * 1024)), undefined)
  const full = stream.deliver(Buffer.alloc(64 * 1024))
  assert.ok(full)
  stream.resume()
  await full
  stream.pause()
  const again = stream.deliver(Buffer.alloc(128 * 1024))
  stream.destroy()
  await again
})

test('data can be read after the connection is closed, and writers end', async () => {
  const reader = new Substream(heldCarrier().carrier)
  void reader.deliver(Buffer.from('rest'))
  reader.disconnect()
  assert.equal(String(await reader.toArray()), 'rest')
  const blocked = new Substream(heldCarrier().carrier)
  blocked.write('a')
  blocked.disconnect()
  await assert.rejects(finished(blocked), /ERR_STREAM_PREMATURE_CLOSE|Premature close/)
  const late = new Substream(heldCarrier().carrier)
  late.disconnect()
  late.write('a')
  await once(late, 'close')
})

test('a stopped reader costs a connection less than 512 KB, in both directions', async () => {
  const [client, server] = duplexPair()
  const opened = Promise.withResolvers<SpdyStream>()
  new SpdyConnection(server, Buffer.alloc(0), opened.resolve)
  const spdy = new SpdyClient(client, Buffer.alloc(0))
  const remote = await spdy.open({ streamtype: 'data' })
  const stream = await opened.promise
  client.pause()
  const counter = { read: 0, written: 0 }
  const piece = Buffer.alloc(16 * 1024)
  const writeAll = async (): Promise<void> => {
    for (; !stream.destroyed; counter.written += piece.length)
      await new Promise<void>((resolve) => stream.write(piece, () => resolve()))
  }
  const sendAll = async (): Promise<void> => {
    for (; !client.destroyed; counter.read += piece.length) await remote.write(piece)
  }
  void writeAll()
  void sendAll()
  const sum = await stalled(() => counter.read + counter.written)
  assert.ok(sum < 512 * 1024, `${JSON.stringify(counter)}`)
  client.destroy()
  server.destroy()
})
