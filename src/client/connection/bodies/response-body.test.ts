import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Stream, connect, performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { duplexPair } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ResponseBody } from './response-body.ts'

/** A request over memory whose response has arrived before the body is read. */
async function request(
  t: TestContext,
  answer: (stream: ServerHttp2Stream) => void,
): Promise<{ stream: ClientHttp2Stream; body: ResponseBody }> {
  const [near, far] = duplexPair()
  const server = performServerHandshake(far)
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    answer(stream)
  })
  const client = connect('http://memory', { createConnection: () => near })
  for (const session of [server, client]) session.on('error', () => {})
  t.after(() => client.destroy())
  const stream = client.request({ ':path': '/' })
  const body = new ResponseBody(stream)
  await once(stream, 'response')
  for (let turns = 0; turns < 20; turns++) await turn()
  return { stream, body }
}

async function read(body: ResponseBody): Promise<number> {
  let bytes = 0
  for await (const piece of body) bytes += piece.length
  return bytes
}

test('a response that ended before it is read is complete', async (t) => {
  const { body } = await request(t, (stream) => {
    stream.respond()
    stream.end(Buffer.alloc(20_000))
  })
  assert.equal(await read(body), 20_000)
})

test('a response that breaks off throws after the received data', async (t) => {
  const { body } = await request(t, (stream) => {
    stream.respond()
    stream.write(Buffer.alloc(100), () => stream.session?.destroy())
  })
  const seen: number[] = []
  await assert.rejects(async () => {
    for await (const piece of body) seen.push(piece.length)
  })
  assert.deepEqual(seen, [100])
})

test('stopping the iteration cancels the request', async (t) => {
  const { stream, body } = await request(t, (sent) => {
    sent.respond()
    sent.write(Buffer.alloc(100))
  })
  for await (const _ of body) break
  if (!stream.closed) await once(stream, 'close')
  assert.equal(stream.rstCode, 8)
})
