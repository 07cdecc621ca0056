import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../../storage/memory/index.ts'
import type { Store } from '../../../storage/store.ts'
import { EndpointReconciler, type EndpointReconcilerOptions, withOwn } from './endpoint-reconciler.ts'
import { LivingServers } from './living-servers.ts'

/** A store in memory as if other processes used it, too. */
const sharedStore = (): Store => Object.defineProperty(memoryStore(), 'isShared', { value: true })

/** Servers that write the same endpoints. */
function servers(type: EndpointReconcilerOptions['type'], count = 1) {
  const store = sharedStore()
  let endpoints: readonly string[] = []
  return {
    store,
    endpoints: () => endpoints,
    at: (address: string) =>
      new EndpointReconciler({
        store,
        type,
        count,
        address,
        current: async () => endpoints,
        write: async (addresses) => {
          endpoints = addresses
        },
        log: (line) => assert.fail(line),
      }),
  }
}

for (const type of ['lease', 'master-count'] as const)
  test(`${type}: each server adds itself, and leaves when it ends`, async () => {
    const cluster = servers(type, 2)
    const [one, two] = [cluster.at('192.0.2.2'), cluster.at('192.0.2.1')]
    await one.begin()
    assert.deepEqual(cluster.endpoints(), ['192.0.2.2'])
    await two.begin()
    assert.deepEqual(cluster.endpoints(), ['192.0.2.1', '192.0.2.2'])
    await one.end()
    assert.deepEqual(cluster.endpoints(), ['192.0.2.1'])
    await two.end()
    assert.deepEqual(cluster.endpoints(), [])
    await cluster.store.close()
  })

test('a server that was killed is forgotten when its key expires', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'] })
  const cluster = servers('lease')
  await new LivingServers(cluster.store).renew('192.0.2.1')
  const living = cluster.at('192.0.2.2')
  await living.begin()
  assert.deepEqual(cluster.endpoints(), ['192.0.2.1', '192.0.2.2'])
  for (let second = 0; second < 21; second++) {
    t.mock.timers.tick(1000)
    await new Promise(setImmediate)
  }
  assert.deepEqual(cluster.endpoints(), ['192.0.2.2'])
  await living.end()
  await cluster.store.close()
})

test('a server that ends does not wait for a store that does not answer', async (t) => {
  const cluster = servers('lease')
  const server = cluster.at('192.0.2.1')
  await server.begin()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(cluster.store, 'commit', () => new Promise(() => {}))
  const ended = server.end()
  await new Promise(setImmediate)
  t.mock.timers.tick(2_000)
  await ended
})

test('with too many servers, those that follow the own address are left out', () => {
  assert.deepEqual(withOwn(['a', 'b', 'd'], 'c', 4), ['a', 'b', 'c', 'd'])
  assert.deepEqual(withOwn(['a', 'b', 'd'], 'c', 3), ['a', 'b', 'c'])
  assert.deepEqual(withOwn(['a', 'b'], 'c', 2), ['b', 'c'])
  assert.deepEqual(withOwn(['a', 'b'], 'c', 1), ['c'])
})

test('a server that joins while another one writes stays in the endpoints', async () => {
  const store = sharedStore()
  const written: (readonly string[])[] = []
  const reconciler = new EndpointReconciler({
    store,
    type: 'lease',
    count: 1,
    address: '192.0.2.1',
    current: async () => written.at(-1) ?? [],
    async write(addresses) {
      await new LivingServers(store).renew('192.0.2.2')
      written.push(addresses)
    },
    log: (line) => assert.fail(line),
  })
  await reconciler.begin()
  assert.deepEqual(written, [['192.0.2.1'], ['192.0.2.1', '192.0.2.2']])
  await reconciler.end()
  await store.close()
})
