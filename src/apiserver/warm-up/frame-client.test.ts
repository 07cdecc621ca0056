import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants, performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { FrameClient } from './frame-client.ts'

/** A client connected to Node's HTTP/2 server. */
function pair(answer: (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void) {
  const [near, far] = duplexPair()
  const server = performServerHandshake(far)
  server.on('stream', answer)
  server.on('error', (error) => assert.fail(error))
  return { client: new FrameClient(near), server }
}

const head = (method: string, path: string) => ({
  ':method': method,
  ':scheme': 'http',
  ':authority': 'x',
  ':path': path,
})

test('the server reads requests with and without bodies', { timeout: 10_000 }, async () => {
  const seen: unknown[] = []
  const { client, server } = pair(async (stream, headers) => {
    let body = ''
    for await (const chunk of stream) body += chunk
    seen.push([headers[':method'], headers[':path'], headers['content-type'], body])
    stream.respond({ ':status': 200 })
    stream.end('read')
  })
  await client.request({ headers: head('GET', '/a') })
  await Promise.all([
    client.request({ headers: { ...head('POST', '/b'), 'content-type': 'text/plain' }, body: Buffer.from('one') }),
    client.request({ headers: head('PUT', '/c'), body: Buffer.alloc(9_000, 'x') }),
  ])
  assert.deepEqual(seen, [
    ['GET', '/a', undefined, ''],
    ['POST', '/b', 'text/plain', 'one'],
    ['PUT', '/c', undefined, 'x'.repeat(9_000)],
  ])
  client.close()
  server.destroy()
})

test('a response larger than all windows, and one without a body, are read to their end', {
  timeout: 10_000,
}, async () => {
  const { client, server } = pair((stream, headers) => {
    stream.respond({ ':status': 200 }, { endStream: headers[':path'] === '/empty' })
    if (headers[':path'] !== '/empty') stream.end(Buffer.alloc(1_000_000))
  })
  for (const path of ['/large', '/empty', '/large']) await client.request({ headers: head('GET', path) })
  client.close()
  server.destroy()
})

test('a watch is cancelled when its response begins', { timeout: 10_000 }, async () => {
  const codes: number[] = []
  const { client, server } = pair(async (stream) => {
    stream.respond({ ':status': 200 })
    await once(stream, 'close')
    codes.push(stream.rstCode)
  })
  await client.request({ headers: head('GET', '/watch'), isWatch: true })
  await client.request({ headers: head('GET', '/watch'), isWatch: true })
  assert.equal(codes[0], constants.NGHTTP2_CANCEL)
  client.close()
  server.destroy()
})

test('requests to a closed connection resolve immediately', { timeout: 10_000 }, async () => {
  const { client, server } = pair(() => server.destroy())
  await client.request({ headers: head('GET', '/') })
  client.close()
  await client.request({ headers: head('GET', '/') })
})
