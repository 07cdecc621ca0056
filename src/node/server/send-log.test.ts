import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { stalled } from '../streaming/testing/stalled.fixture.ts'
import { logOptions } from './log-options.ts'
import { sendLog } from './send-log.ts'

async function serveLog(t: TestContext, log: AsyncIterable<Buffer>, limitBytes?: number): Promise<number> {
  const server = createServer((_, response) => {
    sendLog(response, log, limitBytes).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function* lines(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text)
}

test('a log ends after its limit of bytes', async (t) => {
  for (const [limit, expected] of [
    [undefined, 'one\ntwo\n'],
    [100, 'one\ntwo\n'],
    [5, 'one\nt'],
    [4, 'one\n'],
    [0, ''],
  ] as const) {
    const port = await serveLog(t, lines('one\n', 'two\n'), limit)
    const [response] = await once(get({ port, host: '127.0.0.1' }), 'response')
    assert.equal(Buffer.concat(await response.toArray()).toString(), expected)
  }
})

test('a log is read no faster than its client reads, and abandoned when the client leaves', async (t) => {
  const chunk = Buffer.alloc(64 * 1024)
  let read = 0
  const abandoned = Promise.withResolvers<void>()
  async function* endless(): AsyncGenerator<Buffer> {
    try {
      for (; ; read += chunk.length) yield chunk
    } finally {
      abandoned.resolve()
    }
  }
  const port = await serveLog(t, endless())
  const client: Socket = connect(port, '127.0.0.1').pause()
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const held = await stalled(() => read)
  assert.ok(held < 32 * 1024 * 1024, `${held} bytes were read`)
  client.destroy()
  await abandoned.promise
})

test('options of a log come from the query', () => {
  const now = Date.parse('2026-01-01T00:01:00Z')
  const query = 'follow=true&previous=1&timestamps=t&sinceSeconds=60&tailLines=3&limitBytes=10&stream=Stderr&unknown=1'
  assert.deepEqual(logOptions(new URLSearchParams(query), now), {
    follow: true,
    previous: true,
    timestamps: true,
    sinceMs: now - 60_000,
    tailLines: 3,
    limitBytes: 10,
    stream: 'Stderr',
  })
  const { sinceMs, stream, follow } = logOptions(new URLSearchParams('sinceTime=2026-01-01T00:00:00Z&stream=x'), now)
  assert.deepEqual([sinceMs, stream, follow], [now - 60_000, 'All', false])
})
