import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { Connection } from '../../client/connection/connection.ts'
import type { Lease } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { sleep } from '../../lib/clock/clock.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { microTimestamp } from '../../machinery/values/timestamp.ts'
import { KubeletEvents } from '../kubelet-events.ts'
import { newNode } from './node-object.ts'
import { NodeRunner } from './node-runner.ts'
import { defaultShape } from './node-shape.ts'

const owner = 'test'
const place = { address: '127.0.0.1', port: 1 }

/** A server with one node. `renewal` resolves with the time of the next lease that is written. */
async function oneNode(t: TestContext) {
  const node = newNode({ name: 'node-1', shape: defaultShape }, owner, place, 0)
  const metadata = { ...node.metadata, uid: 'one', resourceVersion: '1' }
  const end = { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } }
  let renewed = Promise.withResolvers<string | undefined>()
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (body: object): void => void response.end(JSON.stringify(body))
    const { method, url = '' } = request
    if (url.startsWith('/api/v1/nodes?')) {
      const events = [
        { type: 'ADDED', object: { ...node, metadata } },
        { type: 'BOOKMARK', object: { ...node, metadata: end } },
      ]
      response.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    } else if (method === 'GET') send({ metadata: end, items: [] })
    else {
      const body = (await json(request)) as Lease
      send({ ...body, metadata: { ...body.metadata, resourceVersion: '2' } })
      if (url.includes('/leases')) renewed.resolve(body.spec?.renewTime)
    }
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  return {
    url: `http://127.0.0.1:${address.port}`,
    async renewal(): Promise<string | undefined> {
      const time = await renewed.promise
      renewed = Promise.withResolvers()
      return time
    },
  }
}

test('a node renews its lease by a paused clock', async (t) => {
  const { url, renewal } = await oneNode(t)
  const connection = new Connection({ url })
  const client = new RestClient(connection)
  const clock = new MovableClock()
  clock.move(0, 0)
  const began = clock.now()
  const log = (): void => {}
  const events = new KubeletEvents(client, log, () => clock.now())
  const runner = new NodeRunner({ client, owner, events, place, onNodeChange: () => {}, clock, log })
  t.after(async () => {
    await runner.stop()
    events.stop()
    clock.stop()
    connection.close()
  })
  await runner.start()
  assert.equal(await renewal(), microTimestamp(began), 'the first one does not wait')
  for (const seconds of [10, 20, 30]) {
    const moved = sleep(clock, 10_000)
    clock.move(10_000, 0)
    await moved
    assert.equal(await renewal(), microTimestamp(began + seconds * 1000))
  }
})
