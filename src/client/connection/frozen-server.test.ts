import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http2'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { Connection } from './connection.ts'

test('a frozen server is detected after 45 s', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const server = createServer()
  const [client, near] = duplexPair()
  const [far, backend] = duplexPair()
  near.pipe(far).pipe(near)
  const connection = new Connection({ url: 'http://127.0.0.1', dial: () => client })
  t.after(() => {
    connection.close()
    server.close()
  })
  const reached = once(server, 'stream')
  server.emit('connection', backend)
  let lost: Error | undefined
  const answer = connection.send({ method: 'GET', path: '/api' }).catch((error: Error) => {
    lost = error
  })
  await reached
  near.unpipe(far)
  far.unpipe(near)
  t.mock.timers.tick(30_000)
  await new Promise(setImmediate)
  t.mock.timers.tick(14_999)
  await new Promise(setImmediate)
  assert.equal(lost, undefined)
  t.mock.timers.tick(1)
  await answer
  assert.match(String(lost), /the server does not respond to pings/)
})
