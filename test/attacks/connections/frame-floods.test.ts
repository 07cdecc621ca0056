/**
 * Connections that send valid frames endlessly. The server closes them or bounds their cost, and serves other clients.
 */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { attackedServer } from '../support/attacked-server.ts'
import { frame, preface, request, requestBlock } from '../support/frames.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'
import { rawTls } from '../support/raw.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const attackers = 4
/** Measured: 130 MB. */
const maxMB = 400

/**
 * Sends a block repeatedly until the connection closes, the server stops reading, or `bytes` have been sent.
 */
async function flood(socket: Socket, block: Buffer, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += block.length) {
    if (socket.write(block)) await new Promise(setImmediate)
    else if (!(await drained(socket))) return
  }
}

/** Resolves with true when the socket drains, or false if it closes or does not drain within 2 s. */
function drained(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (reads: boolean) => (): void => {
      clearTimeout(deadline)
      socket.off('drain', reading).off('close', closed)
      resolve(reads)
    }
    const [reading, closed] = [end(true), end(false)]
    const deadline = setTimeout(closed, 2000)
    socket.on('drain', reading).on('close', closed)
  })
}

test('endless CONTINUATION frames close the connection', async (t) => {
  const server = await attackedServer(t)
  const endless = Buffer.concat(
    Array.from({ length: 2000 }, () => frame('continuation', 0, 1, Buffer.from([0, 1, 120, 1, 121]))),
  )
  await whileOthersAreServed(t, server, async () => {
    await Promise.all(
      Array.from({ length: attackers }, async () => {
        const { socket, closed } = await rawTls(server, 'h2')
        socket.write(Buffer.concat([preface(), frame('headers', 0, 1, requestBlock('GET', configMaps))]))
        await flood(socket, endless, 100 * 1024 * 1024)
        await closed
      }),
    )
    assert.ok(server.resident() < maxMB)
  })
})

const floods = {
  'SETTINGS frames': frame('settings', 0, 0, Buffer.from([0, 4, 0, 1, 0, 0])),
  'PING frames': frame('ping', 0, 0, Buffer.alloc(8)),
  'empty DATA frames': frame('data', 0, 1),
}

for (const [name, one] of Object.entries(floods)) {
  test(`a flood of ${name} from a client that does not read uses bounded memory`, async (t) => {
    const server = await attackedServer(t)
    const block = Buffer.concat(Array.from({ length: 5000 }, () => one))
    await whileOthersAreServed(t, server, async () => {
      await Promise.all(
        Array.from({ length: attackers }, async () => {
          const { socket } = await rawTls(server, 'h2')
          socket.pause()
          socket.write(
            Buffer.concat([
              preface(),
              request(1, requestBlock('POST', configMaps, { 'content-type': 'application/json' }), false),
            ]),
          )
          await flood(socket, block, 10 * 1024 * 1024)
          socket.destroy()
        }),
      )
      assert.ok(server.resident() < maxMB, `${server.resident()} MB`)
    })
  })
}

test('12,000 watches on one connection exceed its stream limit and are reset', async (t) => {
  const server = await attackedServer(t)
  const block = requestBlock('GET', `${configMaps}?watch=1`)
  await whileOthersAreServed(t, server, async () => {
    const { socket } = await rawTls(server, 'h2')
    let resets = 0
    let rest = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      let at = 0
      for (; at + 9 <= rest.length && at + 9 + rest.readUIntBE(at, 3) <= rest.length; at += 9 + rest.readUIntBE(at, 3))
        if (rest[at + 3] === 3) resets++
      rest = rest.subarray(at)
    })
    socket.write(Buffer.concat([preface(), ...Array.from({ length: 12_000 }, (_, i) => request(2 * i + 1, block))]))
    await waitFor('resets or the end of the connection', () => resets >= 9000 || socket.destroyed)
    assert.ok(server.resident() < maxMB, `${server.resident()} MB`)
    socket.destroy()
  })
})
