/**
 * Tests of upstream's suite for Tables and for timeouts of requests
 * (`test/e2e/apimachinery/{table_conversion,request_timeout}.go`).
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { test } from 'node:test'
import { conformanceClients, pod } from '../support/clients.ts'

const clients = conformanceClients({ controllers: [], apiServerFlags: ['--disable-admission-plugins=ServiceAccount'] })

interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: { readonly kind: string } }[]
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number }
}

async function get(
  path: string,
  accept = 'application/json',
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const { ca, cert, key, url } = clients().cluster.client
  const [response]: IncomingMessage[] = await once(
    request(new URL(path, url), { ca, cert, key, agent: false, headers: { accept } }).end(),
    'response',
  )
  return { status: response?.statusCode, text: Buffer.concat((await response?.toArray()) ?? []).toString() }
}
const table = async (path: string) =>
  JSON.parse((await get(path, 'application/json;as=Table;v=v1;g=meta.k8s.io')).text) as Table

test('Servers with support for Table transformation should return pod details', async () => {
  await clients().core.createNamespacedPod({ namespace: 'default', body: pod('pod-1') })
  const { columnDefinitions, rows } = await table('/api/v1/namespaces/default/pods/pod-1')
  assert.ok(columnDefinitions.length > 2)
  assert.equal(columnDefinitions[0]?.name, 'Name')
  assert.deepEqual([rows.length, rows[0]?.cells.length, rows[0]?.cells[0]], [1, columnDefinitions.length, 'pod-1'])
})

test('Servers with support for Table transformation should return chunks of table results for list calls', async () => {
  const template = { metadata: {}, spec: pod('p').spec }
  for (let n = 0; n < 20; n++)
    await clients().core.createNamespacedPodTemplate({
      namespace: 'default',
      body: { metadata: { name: `template-${String(n).padStart(4, '0')}` }, template },
    })
  const path = '/api/v1/namespaces/default/podtemplates'
  const first = await table(`${path}?limit=2`)
  assert.deepEqual(
    first.rows.map(({ cells, object }) => [cells[0], cells.length, object.kind]),
    ['template-0000', 'template-0001'].map((name) => [name, first.columnDefinitions.length, 'PartialObjectMetadata']),
  )
  assert.equal(first.metadata.remainingItemCount, 18)
  const rest = await table(`${path}?continue=${encodeURIComponent(first.metadata.continue ?? '')}`)
  assert.deepEqual([rest.rows.length, rest.rows[0]?.cells[0], rest.metadata.continue], [18, 'template-0002', undefined])
})

test(
  'Servers with support for Table transformation should return generic metadata details across all namespaces ' +
    'for nodes',
  async () => {
    await clients().core.createNode({ body: { metadata: { name: 'n' } } })
    const { columnDefinitions, rows } = await table('/api/v1/nodes')
    assert.ok(columnDefinitions.length >= 2)
    assert.deepEqual(
      [columnDefinitions[0]?.name, rows.length, rows[0]?.cells.length],
      ['Name', 1, columnDefinitions.length],
    )
  },
)

test('Server request timeout', async (t) => {
  await t.test(
    'should return HTTP status code 400 if the user specifies an invalid timeout in the request URL',
    async () => {
      const { status, text } = await get('/version?timeout=invalid')
      assert.equal(status, 400)
      assert.match(text, /invalid timeout specified in the request URL/)
    },
  )
  await t.test(
    'the request should be served with a default timeout if the specified timeout in the request URL exceeds ' +
      'maximum allowed',
    async () => {
      assert.equal((await get('/version?timeout=3m')).status, 200)
    },
  )
  await t.test('default timeout should be used if the specified timeout in the request URL is 0s', async () => {
    assert.equal((await get('/version?timeout=0s')).status, 200)
  })
})
