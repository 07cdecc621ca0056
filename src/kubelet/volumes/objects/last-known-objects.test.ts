import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMap, TestObjects } from '../volumes.fixture.ts'
import { LastKnownObjects } from './last-known-objects.ts'

function setUp() {
  const api = new TestObjects(configMap('a', { key: '1' }))
  const lines: string[] = []
  const objects = new LastKnownObjects(api, (line) => lines.push(line))
  return { api, lines, objects, read: () => objects.configMap('default', 'a') }
}

test('each read is current', async () => {
  const { api, read } = setUp()
  assert.equal((await read())?.data?.key, '1')
  api.set(configMap('a', { key: '2' }))
  assert.equal((await read())?.data?.key, '2')
  api.remove('ConfigMap', 'a')
  assert.equal(await read(), undefined)
})

test('simultaneous reads are one request', async () => {
  const { api, read } = setUp()
  await Promise.all([read(), read(), read()])
  assert.equal(api.reads, 1)
  await read()
  assert.equal(api.reads, 2)
})

test('while the API cannot be reached, objects are as they were', async () => {
  const { api, read, lines, objects } = setUp()
  await read()
  api.configMap = async () => {
    throw new Error('connection refused')
  }
  assert.equal((await read())?.data?.key, '1')
  assert.deepEqual(lines, ['cannot read configmap default/a, using it as it was: connection refused'])
  await assert.rejects(objects.configMap('default', 'b'), /connection refused/)
})
