/**
 * Connections that say nothing, or as little as they can: each is closed when its time is over, whatever it waits for.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { attackedServer, token } from '../support/attacked-server.ts'
import { preface, request, requestBlock } from '../support/frames.ts'
import { whileOthersAreServed } from '../support/others.ts'
import { head, type Raw, rawTcp, rawTls } from '../support/raw.ts'

const limits = { headerTimeoutMs: 1000, idleTimeoutMs: 2000, pingAfterMs: 500, pingTimeoutMs: 1000, lingerMs: 500 }
const configMaps = '/api/v1/namespaces/default/configmaps'
const many = 50

/** Sends a byte every 100 ms until the connection is gone. */
function dribble({ socket, closed }: Raw, bytes: string): Raw {
  let at = 0
  const sending = setInterval(() => socket.write(bytes.charAt(at++ % bytes.length)), 100)
  void closed.then(() => clearInterval(sending))
  return { socket, closed, received: () => '' }
}

const times = (count: number, open: () => Promise<Raw>): Promise<Raw[]> =>
  Promise.all(Array.from({ length: count }, open))

/** All are closed by the server, none before `earliest`, in ms. */
async function allClosed(connections: readonly Raw[], earliest: number): Promise<void> {
  const ages = await Promise.all(connections.map(({ closed }) => closed))
  assert.ok(Math.min(...ages) > earliest * 0.8, `closed after ${Math.min(...ages)} ms`)
}

test('TLS handshakes that never finish are cut off', async (t) => {
  const server = await attackedServer(t, { limits })
  await whileOthersAreServed(t, server, async () => {
    await allClosed(await times(many, () => rawTcp(server)), limits.headerTimeoutMs)
    await allClosed(
      await times(many, async () => dribble(await rawTcp(server), '\x16\x03\x01\x00\xf8\x01\x00\x00\xf4\x03\x03')),
      limits.headerTimeoutMs,
    )
  })
})

test('HTTP/1.1 connections without headers, or with headers that never end, are cut off', async (t) => {
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

test('HTTP/1.1 connections that are kept alive are closed when nothing more is asked', async (t) => {
  const server = await attackedServer(t, { limits })
  const one = await rawTls(server)
  one.socket.write(head('GET', configMaps))
  await waitFor('the answer', () => one.received().startsWith('HTTP/1.1 200'))
  await allClosed([one], limits.idleTimeoutMs)
})

test('HTTP/2 sessions that send no preface, or no request, are closed', async (t) => {
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

test('a peer that has vanished from its watch is noticed; one that is only silent keeps it', async (t) => {
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
  await waitFor('the other is asked again and again', () => pings > 4)
  assert.equal(watch.closed, false)
})

test('an idle HTTP/2 session is told to go, and may ask again before', async (t) => {
  const server = await attackedServer(t, { limits })
  const session = connect(server.url, { ca: server.ca })
  t.after(() => session.destroy())
  const told: number[] = []
  session.on('goaway', (code) => told.push(code))
  for (let i = 0; i < 2; i++) {
    const stream = session.request({ ':path': configMaps, authorization: `Bearer ${token}` })
    await new Promise((resolve) => stream.resume().on('close', resolve))
  }
  await waitFor('it is closed', () => session.closed || session.destroyed)
  assert.deepEqual(told, [0])
})
