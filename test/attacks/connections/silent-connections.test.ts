/**
 * Connections that send nothing or as little as possible: each is closed after the timeout of its state.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { attackedServer, token } from '../support/attacked-server.ts'
import { preface, request, requestBlock } from '../support/frames.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'
import { head, type Raw, rawTcp, rawTls } from '../support/raw.ts'

const limits = { headerTimeoutMs: 1000, idleTimeoutMs: 2000, pingAfterMs: 500, pingTimeoutMs: 1000, lingerMs: 500 }
const configMaps = '/api/v1/namespaces/default/configmaps'
const many = 50

/** Sends a byte every 100 ms until the connection closes. */
function dribble({ socket, closed }: Raw, bytes: string): Raw {
  let at = 0
  const sending = setInterval(() => socket.write(bytes.charAt(at++ % bytes.length)), 100)
  void closed.then(() => clearInterval(sending))
  return { socket, closed, received: () => '' }
}

const times = (count: number, open: () => Promise<Raw>): Promise<Raw[]> =>
  Promise.all(Array.from({ length: count }, open))

/** Waits until the server has closed all connections, none of them earlier than after `minMs`. */
async function allClosed(connections: readonly Raw[], minMs: number): Promise<void> {
  const ages = await Promise.all(connections.map(({ closed }) => closed))
  assert.ok(Math.min(...ages) > minMs * 0.8, `closed after ${Math.min(...ages)} ms`)
}

test('unfinished TLS handshakes are closed', async (t) => {
  const server = await attackedServer(t, { limits })
  await whileOthersAreServed(t, server, async () => {
    await allClosed(await times(many, () => rawTcp(server)), limits.headerTimeoutMs)
    await allClosed(
      await times(many, async () => dribble(await rawTcp(server), '\x16\x03\x01\x00\xf8\x01\x00\x00\xf4\x03\x03')),
      limits.headerTimeoutMs,
    )
  })
})

test('HTTP/1.1 connections without headers or with endless slow headers are closed', async (t) => {
  const server = await attackedServer(t, { limits })
  await whileOthersAreServed(t, server, async () => {
    await allClosed(await times(many, () => rawTls(server)), limits.headerTimeoutMs)
    const slow = await times(many, async () => {
      const one = await rawTls(server)
      one.socket.write(head('GET', configMaps).slice(0, -2))
      return dribble(one, 'X-Slow: a\r\n')
    })
    await allClosed(slow, limits.headerTimeoutMs)
  })
})

test('idle HTTP/1.1 keep-alive connections are closed', async (t) => {
  const server = await attackedServer(t, { limits })
  const one = await rawTls(server)
  one.socket.write(head('GET', configMaps))
  await waitFor('the answer', () => one.received().startsWith('HTTP/1.1 200'))
  await allClosed([one], limits.idleTimeoutMs)
})

test('HTTP/2 sessions without a preface or without a request are closed', async (t) => {
  const server = await attackedServer(t, { limits })
  await whileOthersAreServed(t, server, async () => {
    await allClosed(await times(many, () => rawTls(server, 'h2')), limits.headerTimeoutMs)
    const silent = await times(many, async () => {
      const one = await rawTls(server, 'h2')
      one.socket.write(preface())
      return one
    })
    await allClosed(silent, limits.idleTimeoutMs)
  })
})

test('a watch of a client that does not answer PINGs is closed; a merely silent one goes on', async (t) => {
  const server = await attackedServer(t, { limits })
  const vanished = await rawTls(server, 'h2')
  vanished.socket.write(Buffer.concat([preface(), request(1, requestBlock('GET', `${configMaps}?watch=1`))]))
  const session = connect(server.url, { ca: server.ca })
  t.after(() => session.destroy())
  const watch = session.request({ ':path': `${configMaps}?watch=1`, authorization: `Bearer ${token}` })
  watch.resume()
  let pings = 0
  session.on('ping', () => pings++)
  await allClosed([vanished], limits.pingAfterMs + limits.pingTimeoutMs)
  await waitFor('the other client gets more PINGs', () => pings > 4)
  assert.equal(watch.closed, false)
})

test('an idle HTTP/2 session gets a GOAWAY without an error', async (t) => {
  const server = await attackedServer(t, { limits })
  const session = connect(server.url, { ca: server.ca })
  t.after(() => session.destroy())
  const goaways: number[] = []
  session.on('goaway', (code) => goaways.push(code))
  for (let i = 0; i < 2; i++) {
    const stream = session.request({ ':path': configMaps, authorization: `Bearer ${token}` })
    await new Promise((resolve) => stream.resume().on('close', resolve))
  }
  await waitFor('the session is closed', () => session.closed || session.destroyed)
  assert.deepEqual(goaways, [0])
})
