import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import type { EndpointSlice } from '../../../client/kinds.ts'
import { ServiceSliceMetrics } from './metrics.ts'
import type { SlicePlan } from './slice.ts'
import { SliceWriter } from './slice-writer.ts'

const key = 'ns/web'

const slice = (name: string, resourceVersion: string): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace: 'ns',
    name,
    uid: name,
    resourceVersion,
    labels: { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'me' },
  },
  addressType: 'IPv4',
  endpoints: [],
})

/** Simulates a server that assigns versions and a cache that the test updates. */
function simulation() {
  const cache = new Map<string, EndpointSlice>()
  const enqueued: string[] = []
  let version = 0
  const caches = {
    get: (_kind: unknown, _namespace: string, name: string) => cache.get(name),
    by: () => cache.values(),
  } as unknown as Caches
  const write = async (_kind: unknown, { metadata }: EndpointSlice) =>
    slice(metadata.name || `new-${version + 1}`, `${++version}`)
  const context = {
    client: { create: write, update: write, delete: async () => {} },
    caches,
  } as unknown as ReconcileContext
  const written = new SliceWriter('me', (one) => enqueued.push(one), new ServiceSliceMetrics())
  return {
    enqueued,
    carryOut: (plan: Partial<SlicePlan>) =>
      written.apply(key, { create: [], update: [], remove: [], unchanged: [], ...plan }, context),
    slices: () => written.slices(key, caches)?.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`),
    /** Updates a slice in the cache, or deletes it if there is no version. */
    observe(name: string, resourceVersion?: string) {
      const before = cache.get(name)
      const now = resourceVersion ? slice(name, resourceVersion) : undefined
      if (now) cache.set(name, now)
      else cache.delete(name)
      written.sliceWatch.onChange?.(now, before, context)
    },
  }
}

test('slices returns undefined until own writes are observed, then the key is enqueued', async () => {
  const w = simulation()
  await w.carryOut({ create: [slice('', '')] })
  assert.equal(w.slices(), undefined)
  w.observe('new-1', '1')
  assert.deepEqual([w.slices(), w.enqueued], [['new-1@1'], [key]])
})

test('own writes do not enqueue the key', async () => {
  const w = simulation()
  await w.carryOut({ create: [slice('', ''), slice('', '')] })
  w.observe('new-1', '1')
  w.observe('new-2', '2')
  await w.carryOut({ update: [slice('new-1', '1')], remove: [slice('new-2', '2')] })
  w.observe('new-1', '3')
  assert.equal(w.slices(), undefined)
  w.observe('new-2')
  assert.deepEqual([w.slices(), w.enqueued], [['new-1@3'], [key]])
})

test('writes and deletes by others enqueue the key', async () => {
  const w = simulation()
  w.observe('mine', '1')
  assert.deepEqual(w.enqueued, [key])
  await w.carryOut({ update: [slice('mine', '1')] })
  w.observe('mine', '9')
  assert.deepEqual([w.slices(), w.enqueued], [['mine@9'], [key, key]])
  w.observe('mine')
  assert.deepEqual(w.enqueued, [key, key, key])
})

test('a slice that was cached before the response is not outstanding', async () => {
  const w = simulation()
  w.observe('new-1', '1')
  await w.carryOut({ create: [slice('', '')] })
  assert.deepEqual(w.slices(), ['new-1@1'])
})
