/** Headers of up to 1 MB are accepted as by upstream; larger ones are rejected with its messages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { attackedServer } from '../support/attacked-server.ts'
import { frame, headerBlock, preface, request, requestBlock } from '../support/frames.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'
import { head, rawTls } from '../support/raw.ts'

const path = '/api/v1/namespaces/default'
const kilobyte = 'y'.repeat(1000)
const lines = (count: number): string[] => Array.from({ length: count }, (_, i) => `X-${i}: ${kilobyte}`)

test('HTTP/1.1: up to 1 MB of headers are accepted, more get a 431', async (t) => {
  const server = await attackedServer(t)
  await whileOthersAreServed(t, server, async () => {
    for (const [count, answer] of [
      [60, 'HTTP/1.1 200 OK'],
      [100, 'HTTP/1.1 200 OK'],
      [1000, 'HTTP/1.1 200 OK'],
      [
        1100,
        'HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: ' +
          'close\r\n\r\n431 Request Header Fields Too Large',
      ],
    ] as const) {
      const { socket, received } = await rawTls(server)
      socket.write(head('GET', path, ...lines(count)))
      await waitFor(`an answer to ${count} KB`, () => received() !== '')
      assert.equal(received().slice(0, answer.length), answer)
      socket.destroy()
    }
  })
})

test('HTTP/1.1: 100 connections that send endless headers get a 431', async (t) => {
  const server = await attackedServer(t)
  await whileOthersAreServed(t, server, async () => {
    const block = Buffer.from(`${lines(100).join('\r\n')}\r\n`)
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const { socket, received, closed } = await rawTls(server)
        socket.write(head('GET', path).slice(0, -2))
        for (let i = 0; i < 20 && !received(); i++) await new Promise((resolve) => socket.write(block, resolve))
        await waitFor('a 431', () => received() !== '')
        assert.match(received(), /^HTTP\/1\.1 431 /)
        socket.end()
        await closed
      }),
    )
  })
})

/**
 * Sends a request with `count` kilobytes of headers in frames of `bytes`. Resolves with the types of the received
 * frames that answer it: HEADERS or RST_STREAM.
 */
async function answerTypes(server: Parameters<typeof rawTls>[0], count: number, bytes: number): Promise<number[]> {
  const { socket } = await rawTls(server, 'h2')
  const frames: number[] = []
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at + 9 <= chunk.length; at += 9 + chunk.readUIntBE(at, 3)) frames.push(chunk[at + 3]!)
  })
  const block = Buffer.concat([
    requestBlock('GET', path),
    headerBlock(Object.fromEntries(lines(count).map((_, i) => [`x-${i}`, kilobyte]))),
  ])
  socket.write(preface())
  await waitFor('settings', () => frames.length > 0)
  // Large frames are allowed once the server's settings are acknowledged.
  const acknowledge = 1
  const parts = [frame('settings', acknowledge, 0)]
  const endHeaders = 4
  if (block.length <= bytes) parts.push(request(1, block))
  else
    for (let at = 0; at < block.length; at += bytes) {
      const last = at + bytes >= block.length
      parts.push(
        frame(
          at === 0 ? 'headers' : 'continuation',
          (at === 0 ? 1 : 0) | (last ? endHeaders : 0),
          1,
          block.subarray(at, at + bytes),
        ),
      )
    }
  socket.write(Buffer.concat(parts))
  const [headers, reset] = [1, 3]
  await waitFor('an answer', () => frames.includes(headers) || frames.includes(reset) || socket.destroyed)
  socket.destroy()
  return frames.filter((type) => type === headers || type === reset)
}

test('HTTP/2: up to 1 MB of headers are accepted, more reset the stream', async (t) => {
  const server = await attackedServer(t)
  await whileOthersAreServed(t, server, async () => {
    const [headers, reset] = [1, 3]
    assert.deepEqual(await answerTypes(server, 60, 16_384), [headers])
    assert.deepEqual(await answerTypes(server, 120, 16_384), [headers])
    assert.deepEqual(await answerTypes(server, 950, 200_000), [headers])
    assert.deepEqual(await answerTypes(server, 1100, 200_000), [reset])
  })
})
