import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ViciClient } from './vici-client.ts'
import { decodeSection, encodeSection, type ViciSection } from './vici-message.ts'

/** A packet of the protocol: its length, its type, and the rest. */
const packet = (type: number, ...parts: readonly (string | Buffer)[]): Buffer => {
  const body = Buffer.concat([Buffer.from([type]), ...parts.map((part) => Buffer.from(part))])
  return Buffer.concat([Buffer.from([0, 0, body.length >> 8, body.length & 255]), body])
}

/** A daemon that answers each packet with the next of `answers`; `received` has the bytes of all packets. */
async function standIn(t: TestContext, answers: readonly Buffer[]): Promise<{ file: string; received: Buffer[] }> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-vici-'))
  const file = join(folder, 'charon.vici')
  const received: Buffer[] = []
  const server = createServer((socket) => {
    let next = 0
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received.push(Buffer.from(bytes))
      const answer = answers[next++]
      // The last answer is missing: the daemon ends.
      if (answer) socket.write(answer)
      else socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(file, resolve))
  t.after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  return { file, received }
}

const example: ViciSection = {
  key1: 'value1',
  section1: { 'sub-section': { key2: 'value2' }, list1: ['item1', 'item2'] },
}
const exampleBytes = Buffer.concat([
  ...[Buffer.from('\x03\x04key1\x00\x06value1'), Buffer.from('\x01\x08section1'), Buffer.from('\x01\x0bsub-section')],
  ...[Buffer.from('\x03\x04key2\x00\x06value2\x02'), Buffer.from('\x04\x05list1\x05\x00\x05item1\x05\x00\x05item2')],
  Buffer.from('\x06\x02'),
])

test('a message is the bytes of the protocol’s own example', () => {
  assert.deepEqual(encodeSection(example), exampleBytes)
  assert.deepEqual(JSON.parse(JSON.stringify(decodeSection(exampleBytes))), example)
})

test('a message that is cut off, or has unknown elements, is an error', () => {
  assert.throws(() => decodeSection(exampleBytes.subarray(0, -1)), /cut off/)
  assert.throws(() => decodeSection(exampleBytes.subarray(0, 9)), /cut off/)
  assert.throws(() => decodeSection(Buffer.from([2])), /unknown element 2/)
  assert.throws(() => encodeSection({ data: 'x'.repeat(65_536) }), /the value of data is longer than 65535 bytes/)
})

test('a command is a packet with its name, and its answer a message', async (t) => {
  const answer = encodeSection({ version: '5.9.8' })
  const { file, received } = await standIn(t, [packet(1, answer)])
  const client = await ViciClient.connect(file)
  t.after(() => client.close())
  assert.equal((await client.request('version', { a: 'b' })).version, '5.9.8')
  assert.equal(received[0]?.toString('latin1'), '\x00\x00\x00\x0f\x00\x07version\x03\x01a\x00\x01b')
})

test('a stream is a registration, events before the answer, and the end of the registration', async (t) => {
  const event = (name: string): Buffer => packet(7, '\x07list-sa', encodeSection({ [name]: { state: 'ESTABLISHED' } }))
  const { file, received } = await standIn(t, [
    packet(5),
    Buffer.concat([event('a'), event('b'), packet(1)]),
    packet(5),
  ])
  const client = await ViciClient.connect(file)
  t.after(() => client.close())
  const found = await client.stream('list-sas', 'list-sa')
  assert.deepEqual(found.flatMap(Object.keys), ['a', 'b'])
  assert.deepEqual(
    received.map((bytes) => bytes.toString('latin1')),
    ['\x00\x00\x00\x09\x03\x07list-sa', '\x00\x00\x00\x0a\x00\x08list-sas', '\x00\x00\x00\x09\x04\x07list-sa'],
  )
})

test('a rejection has the daemon’s reason, and not the secret', async (t) => {
  const { file } = await standIn(t, [packet(1, encodeSection({ success: 'no', errmsg: 'no such type' })), packet(2)])
  const client = await ViciClient.connect(file)
  t.after(() => client.close())
  await assert.rejects(client.request('load-shared', { data: 'secret' }), {
    message: 'charon rejects load-shared: no such type',
  })
  await assert.rejects(client.request('load-more'), /charon does not know the command load-more/)
  await assert.rejects(client.request('version'), /charon has not answered version: /)
})

test('a missing socket is named', async () => {
  await assert.rejects(ViciClient.connect('/nowhere/charon.vici'), /charon is not reached at \/nowhere\/charon.vici/)
})
