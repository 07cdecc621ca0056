/** Bodies sent one byte at a time do not outlive the request timeout, also after an early answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attackedServer } from '../support/attacked-server.ts'
import { data, preface, request, requestBlock } from '../support/frames.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'
import { head, rawTls } from '../support/raw.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const options = { requestTimeoutMs: 1000, limits: { lingerMs: 1000 } }
const many = 30

test('a slow body over HTTP/1.1 gets a 504, and its connection is closed', async (t) => {
  const server = await attackedServer(t, options)
  await whileOthersAreServed(t, server, async () => {
    await Promise.all(
      Array.from({ length: many }, async (_, i) => {
        const { socket, received, closed } = await rawTls(server)
        const length = i % 2 ? 'Content-Length: 100000' : 'Transfer-Encoding: chunked'
        socket.write(head('POST', configMaps, 'Content-Type: application/json', length))
        const sending = setInterval(() => socket.write(i % 2 ? ' ' : '1\r\n \r\n'), 100)
        await closed
        clearInterval(sending)
        assert.match(received(), /^HTTP\/1\.1 504 .*"reason":"Timeout"/s)
      }),
    )
  })
})

test('an unfinished body closes the connection after an early answer', async (t) => {
  const server = await attackedServer(t, options)
  await whileOthersAreServed(t, server, async () => {
    await Promise.all(
      Array.from({ length: many }, async (_, i) => {
        const { socket, received, closed } = await rawTls(server)
        const expect = i % 2 ? ['Expect: 100-continue'] : []
        socket.write(
          head('POST', '/nothing/here', 'Content-Type: application/json', 'Content-Length: 100000', ...expect),
        )
        const sending = setInterval(() => i % 2 || socket.write(' '), 100)
        const age = await closed
        clearInterval(sending)
        assert.match(received(), /^HTTP\/1\.1 404 /)
        if (i % 2) assert.ok(age < 10_000)
      }),
    )
  })
})

test('a slow body over HTTP/2 gets a 504 and a reset; the session stays open', async (t) => {
  const server = await attackedServer(t, options)
  await whileOthersAreServed(t, server, async () => {
    const { socket } = await rawTls(server, 'h2')
    const frames: number[] = []
    socket.on('data', (chunk: Buffer) => {
      // Small frames arrive in one piece.
      for (let at = 0; at + 9 <= chunk.length; at += 9 + chunk.readUIntBE(at, 3)) frames.push(chunk[at + 3]!)
    })
    socket.write(
      Buffer.concat([
        preface(),
        request(1, requestBlock('POST', configMaps, { 'content-type': 'application/json' }), false),
      ]),
    )
    const sending = setInterval(() => socket.write(data(1, Buffer.from(' '))), 100)
    const reset = 3
    const deadline = performance.now() + 20_000
    while (!frames.includes(reset) && performance.now() < deadline)
      await new Promise((resolve) => socket.once('data', resolve))
    clearInterval(sending)
    assert.deepEqual(
      frames.filter((type) => type <= reset),
      [1, 0, reset],
      'headers, data, and a reset that stops the upload',
    )
    assert.equal(socket.destroyed, false)
    socket.destroy()
  })
})
