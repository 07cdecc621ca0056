/** Metadata of new objects that clients may not set. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { http2Client, json } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { configMapsPath } from '../../support/objects.ts'

const headers = { 'content-type': 'application/json' }

test('a create with a resourceVersion fails if it is a revision, and after all other errors', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const create = async (
    query: string,
    resourceVersion: string,
    data: object = {},
  ): Promise<[number, string | undefined]> => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion }, data }
    const answer = await client.request('POST', `${configMapsPath}${query}`, { body, headers })
    return [answer.status, json(answer).message]
  }
  assert.deepEqual(await create('', '7'), [500, 'resourceVersion should not be set on objects to be created'])
  assert.equal((await create('?dryRun=All', '7'))[0], 201, 'a dry run does not reach the store')
  const [status, message] = await create('', 'seven', { 'no key': '' })
  assert.equal(status, 422)
  assert.match(message ?? '', /data\[no key\]/)
  assert.equal((await create('', 'seven'))[0], 201, 'a value that is no revision is dropped')
})

test('a LimitRange without a name gets one, other kinds are rejected', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const nameless = (kind: string, spec?: object): object => ({
    body: { apiVersion: 'v1', kind, metadata: {}, ...(spec && { spec }) },
    headers,
  })
  const range = await client.request(
    'POST',
    '/api/v1/namespaces/default/limitranges',
    nameless('LimitRange', { limits: [] }),
  )
  assert.equal(range.status, 201)
  assert.match(json(range).metadata.name, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  assert.equal((await client.request('POST', configMapsPath, nameless('ConfigMap'))).status, 422)
})

test('warnings about a pod are sent with the response', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const spec = { containers: [{ name: 'c', image: 'app:1' }], terminationGracePeriodSeconds: -1 }
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }
  const answer = await client.request('POST', '/api/v1/namespaces/default/pods', { body, headers })
  assert.equal(answer.status, 201)
  assert.match(
    String(answer.headers.warning),
    /^299 - "spec\.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"$/,
  )
})

test('a generation in a new object is kept only for kinds that do not count changes', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const generation = async (
    path: string,
    apiVersion: string,
    kind: string,
    value: number,
    rest: object = {},
  ): Promise<unknown> => {
    const body = { apiVersion, kind, metadata: { name: `g${value}`, generation: value }, ...rest }
    const { status, bytes } = await client.request('POST', path, { body, headers })
    const answer = JSON.parse(bytes.toString()) as { metadata: { generation?: number }; message?: string }
    return status === 201 ? answer.metadata.generation : answer.message
  }
  assert.equal(await generation(configMapsPath, 'v1', 'ConfigMap', 5), 5)
  assert.equal(await generation(configMapsPath, 'v1', 'ConfigMap', 0), undefined)
  const range = { spec: { cidrs: ['10.9.0.0/16'] } }
  assert.equal(
    await generation('/apis/networking.k8s.io/v1/servicecidrs', 'networking.k8s.io/v1', 'ServiceCIDR', 3, range),
    3,
  )
  const spec = { spec: { podSelector: {} } }
  assert.equal(
    await generation(
      '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
      'networking.k8s.io/v1',
      'NetworkPolicy',
      7,
      spec,
    ),
    1,
  )
})
