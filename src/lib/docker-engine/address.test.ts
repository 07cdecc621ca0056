import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineAddress } from './address.ts'

const targetOf = (given: string | undefined, environment: NodeJS.ProcessEnv = {}) =>
  engineAddress(given, environment).target

test('addresses are sockets, pipes of Windows, and hosts with ports', () => {
  assert.deepEqual(targetOf(undefined), { socketPath: '/var/run/docker.sock' })
  assert.deepEqual(targetOf(undefined, { DOCKER_HOST: 'unix:///tmp/d.sock' }), { socketPath: '/tmp/d.sock' })
  assert.deepEqual(targetOf('npipe:////./pipe/docker_engine'), { socketPath: '\\\\.\\pipe\\docker_engine' })
  assert.deepEqual(targetOf('tcp://192.0.2.1'), { host: '192.0.2.1', port: 2375 })
  assert.deepEqual(targetOf('tcp://[::1]:99'), { host: '::1', port: 99 })
})

test('other addresses are errors that show the form', () => {
  for (const text of ['ssh://host', '/var/run/docker.sock', 'docker'])
    assert.throws(() => targetOf(text), /write it like unix:\/\/\/var\/run\/docker.sock/)
})
