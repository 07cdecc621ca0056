/**
 * Clients that never finish their bodies: unfinished bodies share a memory limit, and the memory is freed afterwards.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { type AttackedServer, attackedServer, token } from '../support/attacked-server.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'
import { head, rawTls } from '../support/raw.ts'

const path = '/api/v1/namespaces/default/configmaps'
const part = Buffer.alloc(2_900_000, 0x20)
const clients = 300
/** Measured: 270 MB and 200 MB. */
const maxMB = { during: 450, after: 260 }

interface Attacker {
  /** The answer, if there is one yet. */
  answer(): { readonly status: number; readonly retryAfter: string } | undefined
  /** Returns true if the body was sent or the connection is closed. */
  sent(): boolean
  close(): void
}

async function overHttp1(server: AttackedServer): Promise<Attacker> {
  const { socket, received } = await rawTls(server)
  socket.write(head('POST', path, 'Content-Type: application/json', 'Content-Length: 3000000'))
  socket.write(part)
  return {
    answer: () => {
      const [, status, retryAfter = ''] = /^HTTP\/1\.1 (\d+).*?retry-after: (\d+)/is.exec(received()) ?? []
      return status === undefined ? undefined : { status: Number(status), retryAfter }
    },
    sent: () => socket.destroyed || socket.writableLength === 0,
    close: () => socket.destroy(),
  }
}

async function overHttp2(server: AttackedServer): Promise<Attacker> {
  const session = connect(server.url, { ca: server.ca })
  session.on('error', () => {})
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  })
  let answer: ReturnType<Attacker['answer']>
  stream.on('response', (headers) => {
    answer = { status: headers[':status'] ?? 0, retryAfter: String(headers['retry-after']) }
  })
  stream.on('error', () => {})
  stream.resume()
  stream.write(part)
  return {
    answer: () => answer,
    sent: () => stream.destroyed || stream.writableLength === 0,
    close: () => session.destroy(),
  }
}

for (const [protocol, attack] of [
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
] as const) {
  test(`300 unfinished bodies of 2.9 MB use bounded memory; the rest get a 429 (${protocol})`, {
    timeout: 150_000,
  }, async (t) => {
    const server = await attackedServer(t)
    const attackers: Attacker[] = []
    await whileOthersAreServed(t, server, async () => {
      for (let i = 0; i < clients; i++) attackers.push(await attack(server))
      await waitFor('all bodies are sent or rejected', () => attackers.every((one) => one.sent()), {
        deadlineMs: 60_000,
      })
      const rejected = attackers.flatMap((one) => one.answer() ?? [])
      t.diagnostic(`${rejected.length} of ${clients} rejected; ${server.resident().toFixed(0)} MB resident`)
      assert.ok(rejected.length > clients / 2)
      for (const answer of rejected) assert.deepEqual(answer, { status: 429, retryAfter: '1' })
      assert.ok(server.resident() < maxMB.during)
    })
    for (const one of attackers) one.close()
    await waitFor('memory is freed', () => server.resident() < maxMB.after, { deadlineMs: 60_000 })
    t.diagnostic(`after the attack: ${server.resident().toFixed(0)} MB`)
  })
}
