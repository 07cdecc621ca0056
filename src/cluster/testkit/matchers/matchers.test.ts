import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchers, registerMatchers } from './matchers.ts'

const pod = (status: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web',
    labels: { app: 'web', tier: 'front' },
    finalizers: ['example.com/hold'],
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'u1' }],
  },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status, reason: 'ContainersNotReady', message: 'containers with unready status' }],
  },
})

const deployment = (status: object, generation = 1) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', generation },
  spec: { replicas: 3 },
  status: { observedGeneration: 1, ...status },
})

test('an object is ready by the rules of its kind, and a failure shows why it is not', () => {
  assert.ok(matchers.toBeReady(pod('True')).pass)
  const unready = matchers.toBeReady(pod('False'))
  assert.equal(unready.pass, false)
  assert.equal(
    unready.message(),
    'Pod web was expected to be ready: its condition Ready is not True\n  phase: Running\n  conditions:\n' +
      '    Ready=False (ContainersNotReady: containers with unready status)',
  )
  assert.ok(matchers.toBeReady(deployment({ replicas: 3, updatedReplicas: 3, availableReplicas: 3 })).pass)
  const messageFor = (object: unknown) => matchers.toBeReady(object).message().split('\n')[0]
  const expected = 'Deployment web was expected to be ready'
  assert.equal(messageFor(deployment({})), `${expected}: 0 of 3 replicas are updated`)
  const rolling = deployment({ replicas: 4, updatedReplicas: 3, availableReplicas: 3 })
  assert.equal(messageFor(rolling), `${expected}: 1 old replicas are not yet deleted`)
  assert.equal(messageFor(deployment({}, 2)), `${expected}: its status is of generation 1, its spec of 2`)
  assert.equal(messageFor(undefined), 'the object was expected to be ready: it does not exist')
  const of = (kind: string, rest: object = {}) => ({ kind, metadata: { name: 'a' }, ...rest })
  assert.ok(matchers.toBeReady(of('ConfigMap')).pass)
  assert.ok(matchers.toBeReady(of('PersistentVolumeClaim', { status: { phase: 'Bound' } })).pass)
  assert.ok(!matchers.toBeReady(of('Service', { spec: { type: 'LoadBalancer' } })).pass)
  assert.ok(matchers.toBeReady(of('Service', { spec: { type: 'ClusterIP' } })).pass)
  assert.ok(!matchers.toBeReady(of('Website')).pass)
})

test('conditions, labels, owners and finalizers are matched, and .not has a sentence of its own', () => {
  const object = pod('False')
  assert.ok(matchers.toHaveCondition(object, 'Ready', 'False').pass)
  assert.ok(!matchers.toHaveCondition(object, 'Ready').pass)
  assert.ok(matchers.toHaveLabels(object, { app: 'web' }).pass)
  assert.equal(
    matchers.toHaveLabels(object, { app: 'db' }).message().split('\n')[0],
    'Pod web was expected to have the labels {"app":"db"}: its labels are {"app":"web","tier":"front"}',
  )
  assert.ok(!matchers.toHaveLabels(object, { constructor: 'x' }).pass)
  const owner = { kind: 'ReplicaSet', metadata: { name: 'web-1', uid: 'u1' } }
  const owned = matchers.toBeOwnedBy(object, owner)
  assert.equal(owned.message(), 'Pod web was expected not to be owned by ReplicaSet web-1')
  assert.ok(!matchers.toBeOwnedBy(object, { ...owner, metadata: { name: 'web-1', uid: 'u2' } }).pass)
  assert.ok(matchers.toHaveFinalizer(object, 'example.com/hold').pass)
  assert.throws(() => matchers.toBeReady('web'), /"web" is no object of Kubernetes: it has no metadata/)
})

test('node:test gets assertions that throw', () => {
  const checks = new Map<string, (...args: never[]) => void>()
  registerMatchers({ register: (name, check) => void checks.set(name, check) })
  assert.deepEqual([...checks.keys()].sort(), Object.keys(matchers).sort())
  const toBeReady = checks.get('toBeReady')!
  toBeReady(pod('True') as never)
  assert.throws(() => toBeReady(pod('False') as never), {
    name: 'AssertionError',
    message: /^Pod web was expected to be/,
  })
})
