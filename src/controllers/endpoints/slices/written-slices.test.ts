import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import type { EndpointSlice } from '../../../client/kinds.ts'
import { ServiceSliceMetrics } from './metrics.ts'
import type { SlicePlan } from './slice.ts'
import { WrittenSlices } from './written-slices.ts'

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

/** A server that gives versions, and a memory of it that is told of changes when the test says so. */
function world() {
  const memory = new Map<string, EndpointSlice>()
  const noticed: string[] = []
  let version = 0
  const caches = {
    get: (_kind: unknown, _namespace: string, name: string) => memory.get(name),
    by: () => memory.values(),
  } as unknown as Caches
  const write = async (_kind: unknown, { metadata }: EndpointSlice) =>
    slice(metadata.name || `new-${version + 1}`, `${++version}`)
  const context = {
    client: { create: write, update: write, delete: async () => {} },
    caches,
  } as unknown as ReconcileContext
  const written = new WrittenSlices('me', (one) => noticed.push(one), new ServiceSliceMetrics())
  return {
    noticed,
    carryOut: (plan: Partial<SlicePlan>) =>
      written.carryOut(key, { create: [], update: [], remove: [], unchanged: [], ...plan }, context),
    known: () => written.of(key, caches)?.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`),
    /** Memory hears of a slice; of its end where there is no version. */
    seen(name: string, resourceVersion?: string) {
      const before = memory.get(name)
      const now = resourceVersion ? slice(name, resourceVersion) : undefined
      if (now) memory.set(name, now)
      else memory.delete(name)
      written.watched.onChange?.(now, before, context)
    },
  }
}

test('nothing is decided before what was written has been seen, and then at once', async () => {
  const w = world()
  await w.carryOut({ create: [slice('', '')] })
  assert.equal(w.known(), undefined)
  w.seen('new-1', '1')
  assert.deepEqual([w.known(), w.noticed], [['new-1@1'], [key]])
})

test('what the controller has written itself is no news', async () => {
  const w = world()
  await w.carryOut({ create: [slice('', ''), slice('', '')] })
  w.seen('new-1', '1')
  w.seen('new-2', '2')
  await w.carryOut({ update: [slice('new-1', '1')], remove: [slice('new-2', '2')] })
  w.seen('new-1', '3')
  assert.equal(w.known(), undefined)
  w.seen('new-2')
  assert.deepEqual([w.known(), w.noticed], [['new-1@3'], [key]])
})

test('what others write or delete is news', async () => {
  const w = world()
  w.seen('mine', '1')
  assert.deepEqual(w.noticed, [key])
  await w.carryOut({ update: [slice('mine', '1')] })
  w.seen('mine', '9')
  assert.deepEqual([w.known(), w.noticed], [['mine@9'], [key, key]])
  w.seen('mine')
  assert.deepEqual(w.noticed, [key, key, key])
})

test('a slice that memory knew before the answer came is not waited for', async () => {
  const w = world()
  w.seen('new-1', '1')
  await w.carryOut({ create: [slice('', '')] })
  assert.deepEqual(w.known(), ['new-1@1'])
})
