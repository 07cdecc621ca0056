import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Connection } from '../../../client/connection/connection.ts'
import { RestClient } from '../../../client/rest/rest-client.ts'
import { PodInfo } from '../../framework/index.ts'
import { aPod } from '../../testing/objects.fixture.ts'
import { handleOf, makePlugin } from '../../testing/try-plugin.fixture.ts'
import { defaultBinder } from './default-binder.ts'

test('a pod is bound by name and uid; a rejection by the server is an error', async (t) => {
  const requests: { path?: string; body: unknown }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    requests.push({ path: request.url, body: JSON.parse(Buffer.concat(chunks).toString()) })
    const isFirst = requests.length === 1
    const status = isFirst
      ? { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 }
      : {
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Failure',
          code: 409,
          reason: 'Conflict',
          message: 'pod p is already assigned to node "m"',
        }
    response.writeHead(status.code, { 'Content-Type': 'application/json' }).end(JSON.stringify(status))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const connection = new Connection({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  t.after(() => {
    connection.close()
    server.close()
  })
  const cluster = { nodes: [] }
  const plugin = makePlugin(defaultBinder, cluster, { ...handleOf(cluster), client: new RestClient(connection) })
  const pod = new PodInfo(aPod('p'))
  assert.equal(await plugin.bind?.(pod, 'n'), undefined)
  assert.deepEqual(requests[0], {
    path: '/api/v1/namespaces/default/pods/p/binding',
    body: {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace: 'default', name: 'p', uid: 'uid-of-p' },
      target: { kind: 'Node', name: 'n' },
    },
  })
  const status = await plugin.bind?.(pod, 'n')
  assert.deepEqual([status?.code, status?.reasons], ['Error', ['pod p is already assigned to node "m"']])
})
