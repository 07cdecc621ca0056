/** Status codes that clients distinguish. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { http2Client } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { configMapsPath } from '../../support/objects.ts'

test('a DELETE with orphanDependents=false that leaves the object is 202', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  for (const [name, body, status] of [
    ['a', undefined, 200],
    ['b', '{"kind":"DeleteOptions","apiVersion":"v1","orphanDependents":false}', 202],
  ] as const) {
    await client.request('POST', configMapsPath, {
      body: JSON.stringify({ metadata: { name, finalizers: ['example.com/held'] } }),
    })
    const answer = await client.request('DELETE', `${configMapsPath}/${name}`, body === undefined ? {} : { body })
    assert.equal(answer.status, status)
  }
})

test('virtual resources have no named objects, and the old proxy paths are 404', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  for (const [method, path, status] of [
    ['GET', '/api/v1/namespaces/default/bindings', 405],
    ['GET', '/api/v1/namespaces/default/bindings/a', 404],
    ['DELETE', '/api/v1/namespaces/default/bindings/a', 404],
    ['GET', '/apis/authentication.k8s.io/v1/tokenreviews/a', 404],
    ['GET', '/api/v1/proxy/nodes/a', 404],
  ] as const)
    assert.equal((await client.request(method, path)).status, status, `${method} ${path}`)
})

test('discovery and OpenAPI documents reject other methods, before other errors', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  for (const [method, path, accept, status] of [
    ['POST', '/openapi/v3/api/v1', 'application/pdf', 405],
    ['POST', '/openapi/v3/nothing', 'application/json', 405],
    ['PUT', '/openapi/v2', 'application/pdf', 405],
    ['GET', '/openapi/v3/api/v1', 'application/pdf', 406],
    ['GET', '/openapi/v3/nothing', 'application/json', 404],
  ] as const)
    assert.equal((await client.request(method, path, { headers: { accept } })).status, status, `${method} ${path}`)
})

test('a PUT with the uid of a deleted object is 409 for kinds that PUT may create, 404 for others', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
  const put = async (path: string, metadata: object) => {
    const answer = await client.request('PUT', path, { body: JSON.stringify({ metadata }) })
    return [answer.status, (JSON.parse(answer.bytes.toString()) as { message?: string }).message]
  }
  const refusal = (there: string) =>
    'Operation cannot be fulfilled on leases.coordination.k8s.io "l": StorageError: invalid object, Code: 4, ' +
    'Key: /registry/leases/default/l, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in ' +
    `precondition: old, UID in object meta: ${there}`
  assert.deepEqual(await put(`${leases}/l`, { name: 'l', uid: 'old', resourceVersion: '5' }), [409, refusal('')])
  assert.deepEqual(await put(`${configMapsPath}/c`, { name: 'c', uid: 'old' }), [404, 'configmaps "c" not found'])
  const made = await client.request('PUT', `${leases}/l`, { body: '{"metadata":{"name":"l"}}' })
  const { metadata } = JSON.parse(made.bytes.toString()) as { metadata: { uid: string } }
  assert.deepEqual(await put(`${leases}/l`, { name: 'l', uid: 'old' }), [409, refusal(metadata.uid)])
})

test('a watch does not support YAML', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const { status, bytes } = await client.request('GET', '/api/v1/namespaces?watch=true', {
    headers: { accept: 'application/yaml' },
  })
  assert.equal(status, 406)
  assert.match(
    bytes.toString(),
    /media types are accepted:\s+application\/json;stream=watch,\s+application\/vnd\.kubernetes\.protobuf;stream=watch/,
  )
})
