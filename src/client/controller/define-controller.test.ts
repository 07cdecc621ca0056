import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { deployments, namespaces, nodes, pods, replicaSets } from '../kinds.ts'
import type { Caches, ReconcileContext } from './controller.ts'
import { controller } from './define-controller.ts'
import { allOf, annotationsChanged, anyOf, generationChanged, labelsChanged } from './predicates.ts'

const owned = (owner: object, namespace = 'default'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'x',
    namespace,
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: '1', controller: true, ...owner }],
  },
})
const caches = {} as Caches
const keys = (made: ReturnType<typeof controller>, object: KubeObject) => [
  ...(made.watches[1]?.keys?.(object, caches) ?? []),
]

test('a change of a dependent queues its controller if the kind matches, also a cluster-scoped one', () => {
  const made = controller({ name: 'x', for: replicaSets, owns: [pods], reconcile: async () => {} })
  assert.deepEqual(keys(made, owned({})), ['default/web'])
  // Another version of the same group is the same owner.
  assert.deepEqual(keys(made, owned({ apiVersion: 'apps/v2' })), ['default/web'])
  assert.deepEqual(keys(made, owned({ apiVersion: 'v1' })), [])
  assert.deepEqual(keys(made, owned({ kind: 'Job' })), [])
  assert.deepEqual(keys(made, owned({ controller: false })), [])
  const ofNodes = controller({ name: 'x', for: nodes, owns: [{ resource: pods }], reconcile: async () => {} })
  assert.deepEqual(keys(ofNodes, owned({ apiVersion: 'v1', kind: 'Node', name: 'n' })), ['n'])
})

test('reconcile gets namespace and name, and can requeue the key', async () => {
  const calls: unknown[] = []
  const context = { requeue: (key: string, ms?: number) => calls.push([key, ms]) } as unknown as ReconcileContext
  const made = controller({
    name: 'x',
    for: deployments,
    reads: [namespaces],
    async reconcile(request) {
      calls.push(request)
      return request.namespace ? { requeueAfterMs: 500 } : undefined
    },
  })
  await made.reconcile?.('default/web', context)
  await made.reconcile?.('web', context)
  assert.deepEqual(calls, [
    { namespace: 'default', name: 'web', key: 'default/web' },
    ['default/web', 500],
    { namespace: '', name: 'web', key: 'web' },
  ])
})

test('predicates compare the old and the new object', () => {
  const object = (metadata: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata }) as KubeObject
  const before = object({ generation: 1, labels: { a: 'b' } })
  const cases: [object, boolean, boolean, boolean][] = [
    [{ generation: 1, labels: { a: 'b' }, resourceVersion: '2' }, false, false, false],
    [{ generation: 2, labels: { a: 'b' } }, true, false, false],
    [{ generation: 1, labels: { a: 'b' }, deletionTimestamp: 'now' }, true, false, false],
    [{ generation: 1, labels: { a: 'c' } }, false, true, false],
    [{ generation: 1, labels: { a: 'b' }, annotations: { x: 'y' } }, false, false, true],
  ]
  for (const [metadata, generation, labels, annotations] of cases) {
    const after = object(metadata)
    assert.deepEqual(
      [generationChanged(after, before), labelsChanged(after, before), annotationsChanged(after, before)],
      [generation, labels, annotations],
    )
    assert.equal(
      anyOf(generationChanged, labelsChanged, annotationsChanged)(after, before),
      generation || labels || annotations,
    )
    assert.equal(allOf(generationChanged, labelsChanged)(after, before), false)
  }
  assert.equal(generationChanged(before, undefined) && generationChanged(undefined, before), true)
})
