/**
 * Bodies and objects that are too large are rejected with upstream's messages, and connections survive where upstream's
 * do.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { waitFor } from '../../support/wait-for.ts'
import { ask } from '../support/ask.ts'
import { attackedServer } from '../support/attacked-server.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'
import { head, rawTls } from '../support/raw.ts'

const secrets = '/api/v1/namespaces/default/secrets'
const pods = '/api/v1/namespaces/default/pods'
const limit = 3 * 1024 * 1024
const tooLarge = /"message":"Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge","code":413/

test('a Content-Length above 3 MiB is rejected before the body is sent', async (t) => {
  const server = await attackedServer(t)
  await whileOthersAreServed(t, server, async () => {
    const { socket, received, closed } = await rawTls(server)
    socket.write(head('POST', pods, 'Content-Type: application/json', `Content-Length: ${limit + 1}`))
    await waitFor('the answer', () => received().includes('\r\n\r\n{'))
    assert.match(received(), /^HTTP\/1\.1 413 .*connection: close/is)
    assert.match(received(), tooLarge)
    socket.destroy()
    await closed
    const expecting = await rawTls(server)
    expecting.socket.write(
      head('POST', pods, 'Content-Type: application/json', `Content-Length: ${limit + 1}`, 'Expect: 100-continue'),
    )
    await expecting.closed
    assert.match(expecting.received(), /^HTTP\/1\.1 413 /)
  })
})

test('chunked and HTTP/2 bodies above 3 MiB get a 413 that clients can read while sending', async (t) => {
  const server = await attackedServer(t)
  await whileOthersAreServed(t, server, async () => {
    const { socket, received } = await rawTls(server)
    socket.write(head('POST', pods, 'Content-Type: application/json', 'Transfer-Encoding: chunked'))
    const chunk = Buffer.alloc(1024 * 1024, 0x20)
    for (let i = 0; i < 8; i++)
      socket.write(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]))
    await waitFor('the answer', () => tooLarge.test(received()))
    socket.destroy()
    const answer = await ask(server, 'POST', pods, Buffer.alloc(12 * 1024 * 1024, 0x20))
    assert.deepEqual([answer.status, tooLarge.test(answer.text)], [413, true])
  })
})

test('a connection survives an early answer if little of the request is left', async (t) => {
  const server = await attackedServer(t)
  const { socket, received } = await rawTls(server)
  const answers = (): number => received().match(/HTTP\/1\.1 404/g)?.length ?? 0
  for (let i = 1; i <= 3; i++) {
    socket.write(head('POST', '/nothing/here', 'Content-Type: application/json', 'Content-Length: 200000'))
    await waitFor(`answer ${i}`, () => answers() === i)
    socket.write(Buffer.alloc(200_000, 0x20))
  }
  socket.destroy()
})

test('a create or patch that makes an object exceed 1.5 MiB fails with the error of etcd', async (t) => {
  const server = await attackedServer(t)
  const pod = (bytes: number): string =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'large' },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'example/app:1',
            args: Array.from({ length: Math.ceil(bytes / 100_000) }, () => 'x'.repeat(100_000)),
          },
        ],
      },
    })
  await whileOthersAreServed(t, server, async () => {
    const expected =
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"etcdserver: request is too ' +
      'large","code":500}\n'
    assert.deepEqual(await ask(server, 'POST', pods, pod(2_400_000)), { status: 500, text: expected })
    assert.equal((await ask(server, 'POST', pods, pod(1_400_000))).status, 201)
    const patch = JSON.stringify({ metadata: { labels: { a: 'b' } }, status: { message: 'x'.repeat(500_000) } })
    assert.deepEqual(
      await ask(server, 'PATCH', `${pods}/large/status`, patch, { 'content-type': 'application/merge-patch+json' }),
      {
        status: 500,
        text: expected,
      },
    )
    assert.equal((await ask(server, 'DELETE', `${pods}/large`, '')).status, 200)
  })
})

test('a compressed body is not decompressed, and fails as invalid JSON', async (t) => {
  const server = await attackedServer(t)
  const body = gzipSync(Buffer.alloc(100_000, 0x20))
  const { status, text } = await ask(server, 'POST', secrets, body, { 'content-encoding': 'gzip' })
  assert.equal(status, 400)
  const { message } = JSON.parse(text) as { message: string }
  assert.equal(
    message,
    "the object provided is unrecognized (must be of type Secret): couldn't get version/kind; json parse error: " +
      `invalid character '\\x1f' looking for beginning of value (${body.subarray(0, 30).toString('hex')} ...)`,
  )
})
