import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestInfo } from './request-info.ts'

test('a list of one object by its name is authorized as that object', () => {
  const nameOf = (fieldSelector: string, method = 'GET') =>
    requestInfo(method, '/api/v1/namespaces/default/pods', new URLSearchParams({ fieldSelector })).name
  assert.equal(nameOf('metadata.name=a'), 'a')
  assert.equal(nameOf('metadata.name==a'), 'a')
  assert.equal(nameOf('status.phase=Running,metadata.name=a'), 'a')
  assert.equal(nameOf('metadata.name!=a'), '')
  assert.equal(nameOf('metadata.name=a/b'), '')
  assert.equal(nameOf('metadata.name=..'), '')
  assert.equal(nameOf('metadata.name'), '')
  assert.equal(nameOf('metadata.name=a', 'POST'), '')
  // As upstream: permissions limited to names do not allow to delete a collection, or to watch under /watch/.
  assert.equal(nameOf('metadata.name=a', 'DELETE'), '')
  assert.equal(
    requestInfo(
      'GET',
      '/api/v1/watch/namespaces/default/pods',
      new URLSearchParams({ fieldSelector: 'metadata.name=a' }),
    ).name,
    '',
  )
})

test('old proxy and watch paths have their own verbs', () => {
  const infoOf = (path: string) => {
    const { verb, namespace, resource, name, subresource } = requestInfo('GET', path, new URLSearchParams())
    return [verb, namespace, resource, name, subresource]
  }
  assert.deepEqual(infoOf('/api/v1/proxy/namespaces/n/pods/p/a/b'), ['proxy', 'n', 'pods', 'p', ''])
  assert.deepEqual(infoOf('/api/v1/watch/namespaces/n/pods'), ['watch', 'n', 'pods', '', ''])
  assert.deepEqual(infoOf('/api/v1/namespaces/n/pods/p/proxy/a'), ['get', 'n', 'pods', 'p', 'proxy'])
})
