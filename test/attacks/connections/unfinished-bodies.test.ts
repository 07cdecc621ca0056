/** Clients that each hold a body that they never finish: what is under way has one bound, and memory comes back. */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { type AttackedServer, attackedServer, token } from '../support/attacked-server.ts'
import { whileOthersAreServed } from '../support/others.ts'
import { head, rawTls } from '../support/raw.ts'

const path = '/api/v1/namespaces/default/configmaps'
const part = Buffer.alloc(2_900_000, 0x20)
const clients = 300
/** Generous: 270 MB and 200 MB were measured. */
const enoughMB = { during: 450, after: 260 }

interface Attacker {
  /** What was answered, if anything. */
  answer(): { readonly status: number; readonly retryAfter: string } | undefined
  /** Whether all was sent that will be. */
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
  test(`300 unfinished bodies of 2.9 MB cost little; what is too much may come again later (${protocol})`, {
    timeout: 150_000,
  }, async (t) => {
    const server = await attackedServer(t)
    const attackers: Attacker[] = []
    await whileOthersAreServed(t, server, async () => {
      for (let i = 0; i < clients; i++) attackers.push(await attack(server))
      await waitFor('all is sent or refused', () => attackers.every((one) => one.sent()), { deadlineMs: 60_000 })
      const refused = attackers.flatMap((one) => one.answer() ?? [])
      t.diagnostic(`${refused.length} of ${clients} refused; ${server.resident().toFixed(0)} MB resident`)
      assert.ok(refused.length > clients / 2)
      for (const answer of refused) assert.deepEqual(answer, { status: 429, retryAfter: '1' })
      assert.ok(server.resident() < enoughMB.during)
    })
    for (const one of attackers) one.close()
    await waitFor('memory goes back', () => server.resident() < enoughMB.after, { deadlineMs: 60_000 })
    t.diagnostic(`afterwards: ${server.resident().toFixed(0)} MB`)
  })
}
