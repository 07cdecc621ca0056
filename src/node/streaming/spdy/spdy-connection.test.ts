import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { connectSpdy, startStreamServer } from '../testing/stream-server.fixture.ts'
import { dataHead, type Frame, FrameSplitter } from './frames.ts'
import { SpdyConnection } from './spdy-connection.ts'
import { headerBlock, spdyDictionary } from './spdy-headers.ts'

test('a block without headers is the number 0, in the compression that all blocks share', () => {
  const blocks = Buffer.concat([headerBlock({}, true), headerBlock({}, false), Buffer.from([3, 0])])
  assert.deepEqual(inflateSync(blocks, { dictionary: spdyDictionary, finishFlush: 2 }), Buffer.alloc(8))
})

test('frames may be cut anywhere: data is passed on as it arrives, control frames when they are complete', () => {
  const control = Buffer.from([0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 9])
  const bytes = Buffer.concat([dataHead(5, 3, 0), Buffer.from('abc'), control, dataHead(5, 0, 1)])
  for (let size = 1; size <= bytes.length; size++) {
    const splitter = new FrameSplitter()
    const frames: Frame[] = []
    for (let at = 0; at < bytes.length; at += size) frames.push(...splitter.split(bytes.subarray(at, at + size)))
    const data = frames.flatMap((frame) => (frame.kind === 'data' ? [frame] : []))
    assert.equal(Buffer.concat(data.map((frame) => frame.data)).toString(), 'abc')
    assert.deepEqual([data.at(-1)?.isLast, data.filter(({ isLast }) => isLast).length], [true, 1])
    assert.deepEqual(
      frames.filter(({ kind }) => kind === 'control'),
      [{ kind: 'control', type: 6, flags: 0, body: Buffer.from([0, 0, 0, 9]) }],
    )
  }
})

test('pings are answered, and a control frame that is too large ends the connection', async (t) => {
  const port = await startStreamServer(t, {})
  const client = await connectSpdy(t, port, '/portForward', 'portforward.k8s.io')
  client.ping()
  await once(client.socket, 'data')
  assert.equal(client.pings, 1)
  const closed = once(client.socket, 'close')
  client.socket.write(Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]))
  await closed
})

test('a connection whose client has left is closed from the beginning', async () => {
  const [client, server] = duplexPair()
  client.destroy()
  server.destroy()
  await once(server, 'close')
  const connection = new SpdyConnection(server, Buffer.from('rest'), () => {})
  assert.ok(connection.signal.aborted)
  connection.close()
})
