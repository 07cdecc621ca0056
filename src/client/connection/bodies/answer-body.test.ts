import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Stream, connect, performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { duplexPair } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { AnswerBody } from './answer-body.ts'

/** A request over memory, whose answer is all there before anybody reads it. */
async function asked(
  t: TestContext,
  answer: (stream: ServerHttp2Stream) => void,
): Promise<{ stream: ClientHttp2Stream; body: AnswerBody }> {
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
  const body = new AnswerBody(stream)
  await once(stream, 'response')
  for (let turns = 0; turns < 20; turns++) await turn()
  return { stream, body }
}

async function read(body: AnswerBody): Promise<number> {
  let bytes = 0
  for await (const piece of body) bytes += piece.length
  return bytes
}

test('an answer is whole though its end came before somebody read it', async (t) => {
  const { body } = await asked(t, (stream) => {
    stream.respond()
    stream.end(Buffer.alloc(20_000))
  })
  assert.equal(await read(body), 20_000)
})

test('an answer that breaks off throws after what has come', async (t) => {
  const { body } = await asked(t, (stream) => {
    stream.respond()
    stream.write(Buffer.alloc(100), () => stream.session?.destroy())
  })
  const seen: number[] = []
  await assert.rejects(async () => {
    for await (const piece of body) seen.push(piece.length)
  })
  assert.deepEqual(seen, [100])
})

test('a reader who stops ends the request', async (t) => {
  const { stream, body } = await asked(t, (sent) => {
    sent.respond()
    sent.write(Buffer.alloc(100))
  })
  for await (const _ of body) break
  if (!stream.closed) await once(stream, 'close')
  assert.equal(stream.rstCode, 8)
})
