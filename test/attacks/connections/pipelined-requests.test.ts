/**
 * Pipelining: clients that send HTTP/1.1 requests without waiting for the answers. No request is lost, whatever its
 * size.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { attackedServer } from '../support/attacked-server.ts'
import { head, rawTls } from '../support/raw.ts'

/** 2 MB each: together more than the socket buffers hold. */
const largeAnswers = 20

test('a large body is read once the client has read the pending answers', async (t) => {
  const server = await attackedServer(t)
  const { socket } = await rawTls(server)
  const statuses: string[] = []
  let line = ''
  socket.on('data', (chunk: Buffer) => {
    const text = line + chunk.toString('latin1')
    for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) statuses.push(status ?? '')
    line = text.slice(-'HTTP/1.1 200'.length)
  })
  socket.pause()
  for (let i = 0; i < largeAnswers; i++) socket.write(head('GET', '/openapi/v2'))
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'large' },
    data: { large: 'x'.repeat(400_000) },
  })
  await waitFor('the first answer', () => socket.readableLength > 0)
  const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`]
  const sent = new Promise((resolve) =>
    socket.write(head('POST', '/api/v1/namespaces/default/configmaps', ...headers) + body, resolve),
  )
  socket.resume()
  await sent
  await waitFor('all answers', () => statuses.length > largeAnswers || socket.closed)
  assert.deepEqual(statuses, [...Array.from({ length: largeAnswers }, () => '200'), '201'])
  socket.destroy()
})
