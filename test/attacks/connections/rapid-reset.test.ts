/**
 * Streams that are opened and immediately reset (CVE-2023-44487): the server closes the connection and serves others.
 */
import { test } from 'node:test'
import { attackedServer } from '../support/attacked-server.ts'
import { preface, request, requestBlock, reset } from '../support/frames.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'
import { rawTls } from '../support/raw.ts'

const streams = 42_750

for (const [what, path] of [
  ['lists', '/api/v1/namespaces/default/configmaps'],
  ['watches', '/api/v1/namespaces/default/configmaps?watch=1'],
] as const) {
  test(`171,000 ${what} opened and reset on four connections close the connections`, async (t) => {
    const server = await attackedServer(t)
    const block = requestBlock('GET', path)
    const frames = Array.from({ length: streams }, (_, i) =>
      Buffer.concat([request(2 * i + 1, block), reset(2 * i + 1)]),
    )
    const bytes = Buffer.concat([preface(), ...frames])
    await whileOthersAreServed(t, server, async () => {
      const attackers = await Promise.all(Array.from({ length: 4 }, () => rawTls(server, 'h2')))
      const started = performance.now()
      for (const { socket } of attackers) socket.write(bytes)
      await Promise.all(attackers.map(({ closed }) => closed))
      t.diagnostic(`closed after ${(performance.now() - started).toFixed(0)} ms`)
    })
  })
}
