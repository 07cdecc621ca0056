import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../kinds.ts'
import { StructuralSharing } from './structural-sharing.ts'

const pod = (name: string, owner: string, phase: string, nodeName: string): Pod =>
  JSON.parse(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        uid: `uid-${name}`,
        labels: { app: owner },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: `uid-${owner}`, controller: true },
        ],
      },
      spec: {
        nodeName,
        tolerations: [{ key: 'a' }, { key: 'b' }],
        containers: [{ name: 'c', image: 'i', env: [{ name: 'NODE', value: nodeName }] }],
      },
      status: { phase, conditions: [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }] },
    }),
  ) as Pod

function shared(...objects: readonly Pod[]): readonly Pod[] {
  const parts = new StructuralSharing()
  for (const object of objects) parts.share(object)
  return objects
}

test('pods of one owner share equal parts and keep their values', () => {
  const [a, b] = shared(pod('a', 'web', 'Running', 'node-1'), pod('b', 'web', 'Running', 'node-2'))
  assert.deepEqual(b, pod('b', 'web', 'Running', 'node-2'))
  assert.deepEqual(a, pod('a', 'web', 'Running', 'node-1'))
  assert.equal(b?.metadata.labels, a?.metadata.labels)
  assert.equal(b?.metadata.ownerReferences, a?.metadata.ownerReferences)
  assert.equal(b?.spec?.tolerations, a?.spec?.tolerations)
  assert.equal(b?.status, a?.status)
  assert.notEqual(b?.spec?.containers[0]?.env, a?.spec?.containers[0]?.env)
})

test('pods are compared with pods of the same owner and phase', () => {
  const [first, , , last] = shared(
    pod('a', 'web', 'Running', 'n'),
    pod('b', 'web', 'Pending', 'n'),
    pod('c', 'db', 'Running', 'n'),
    pod('d', 'web', 'Running', 'n'),
  )
  assert.equal(last?.status, first?.status)
  assert.equal(last?.metadata.labels, first?.metadata.labels)
})

test('lists of different length and objects with missing members are not equal', () => {
  const longer = pod('a', 'web', 'Running', 'n')
  longer.spec!.tolerations!.push({ key: 'c' })
  const fewer = pod('c', 'web', 'Running', 'n')
  delete fewer.spec!.tolerations
  const [a, b, c] = shared(longer, pod('b', 'web', 'Running', 'n'), fewer)
  assert.equal(a?.spec?.tolerations?.length, 3)
  assert.equal(b?.spec?.tolerations?.length, 2)
  assert.equal(b?.spec?.tolerations?.[0], a?.spec?.tolerations?.[0])
  assert.deepEqual(c, fewer)
  assert.equal(c?.spec && 'tolerations' in c.spec, false)
})

test('members named __proto__ and constructor are ordinary members', () => {
  const text =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"__proto__":"y","constructor":"z"}}'
  const parts = new StructuralSharing()
  const [a, b] = [JSON.parse(text), JSON.parse(text)]
  parts.share(a)
  parts.share(b)
  assert.equal(JSON.stringify(b), text)
  assert.equal(b.data, a.data)
})
