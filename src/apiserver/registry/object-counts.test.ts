import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allResources } from '../../api/registry.ts'
import { memoryStore } from '../../storage/memory/index.ts'
import type { KeyRange } from '../../storage/store.ts'
import { ObjectCounts } from './object-counts.ts'
import { Registry } from './registry.ts'

test('resources are counted in memory or in the store, and -1 is a failure', async (t) => {
  const store = memoryStore()
  const put = (key: string) =>
    store.commit({ conditions: [], operations: [{ key: `/registry/${key}`, value: Buffer.from('{}') }] })
  for (const key of ['secrets/a/one', 'secrets/b/two', 'minions/n']) await put(key)
  const failing = {
    count: async ({ start }: KeyRange) => (start === '/registry/leases/' ? Promise.reject(new Error('no leader')) : 0),
  }
  const registry = new Registry(
    store,
    allResources,
    () => {},
    undefined,
    ({ definition }) => (definition.plural === 'leases' ? Object.assign(Object.create(store), failing) : undefined),
  )
  t.after(() => registry.stop())
  const served = ['secrets', 'nodes', 'leases', 'selfsubjectreviews'].map((plural) =>
    registry.served(allResources.find((definition) => definition.plural === plural)!),
  )
  const waits: { readonly ms: number; readonly end: () => void }[] = []
  let waiting = Promise.withResolvers<void>()
  const delay = (ms: number): Promise<void> =>
    new Promise((end) => {
      waits.push({ ms, end })
      waiting.resolve()
    })
  /** Ends the current pause, and resolves at the next one. */
  const next = (): Promise<void> => {
    waiting = Promise.withResolvers<void>()
    waits.at(-1)!.end()
    return waiting.promise
  }
  const options = { registry, served: () => served, random: () => 0.5, delay }
  const counts = new ObjectCounts({ ...options, periodMs: 60_000 })
  t.after(() => counts.stop())
  assert.deepEqual(counts.read(), [])
  await next()
  assert.deepEqual(counts.read(), [
    { group: '', resource: 'secrets', objects: 2, bytes: -1 },
    { group: '', resource: 'nodes', objects: 1, bytes: -1 },
    { group: 'coordination.k8s.io', resource: 'leases', objects: -1, bytes: -1 },
  ])
  await put('minions/m')
  await next()
  assert.equal(counts.read()[1]?.objects, 2)
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [1_000, 96_000, 96_000],
  )
  const off = new ObjectCounts({ ...options, periodMs: 0 })
  assert.deepEqual(off.read(), [])
})
