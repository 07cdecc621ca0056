import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../storage/memory/index.ts'
import type { Entry } from '../../storage/store.ts'
import { differences, Snapshots } from './snapshots.ts'

const entry = (key: string, value: string, revision: number): [string, Entry] => [
  key,
  { key, value: Buffer.from(value), revision },
]
const owned = '{"metadata":{"ownerReferences":[]}}'

test('owners are restored before what they own, and heartbeats only if they are missing', () => {
  const wanted = new Map([
    entry('/registry/events/n/a', '1', 4),
    entry('/registry/leases/kube-node-lease/n', '1', 5),
    entry('/registry/leases/kube-node-lease/missing', '1', 5),
    entry('/registry/pods/n/a', owned, 2),
    entry('/registry/replicasets/n/a', '1', 3),
    entry('/registry/same', '1', 6),
    entry('/registry/written/but/equal', '1', 7),
  ])
  const current = new Map([
    entry('/registry/leases/kube-node-lease/n', '2', 15),
    entry('/registry/pods/n/added', owned, 12),
    entry('/registry/replicasets/n/added', '1', 13),
    entry('/registry/same', '1', 6),
    entry('/registry/written/but/equal', '1', 17),
  ])
  const [transaction, ...more] = differences(current, wanted, 60)
  assert.deepEqual(more, [])
  assert.deepEqual(
    transaction?.operations.map(({ key, ...rest }) => [key, 'ttlSeconds' in rest ? rest.ttlSeconds : 'delete']),
    [
      ['/registry/events/n/a', 60],
      ['/registry/leases/kube-node-lease/missing', undefined],
      ['/registry/replicasets/n/a', undefined],
      ['/registry/replicasets/n/added', 'delete'],
      ['/registry/pods/n/a', undefined],
      ['/registry/pods/n/added', 'delete'],
    ],
  )
  assert.deepEqual(
    transaction?.conditions.map(({ revision }) => revision),
    [0, 0, 0, 13, 0, 12],
  )
})

test('a restore of many objects takes several transactions, and begins again if another writer wins', async () => {
  const memory = memoryStore()
  const put = (key: string, value: string) =>
    memory.commit({ conditions: [], operations: [{ key, value: Buffer.from(value) }] })
  for (let i = 0; i < 300; i++) await put(`/registry/a/${i}`, `${i}`)
  let commits = 0
  const store = Object.create(memory, {
    commit: {
      async value(transaction: Parameters<typeof memory.commit>[0]) {
        if (++commits === 2) await put(transaction.operations[0]!.key, 'another')
        return memory.commit(transaction)
      },
    },
    list: { value: memory.list.bind(memory) },
  })
  const snapshots = new Snapshots({ stores: [store], eventTtlSeconds: undefined })
  const { name, objects } = await snapshots.take()
  assert.equal(objects, 300)
  for (let i = 0; i < 300; i++) await put(`/registry/a/${i}`, 'changed')
  await snapshots.restore(name)
  assert.equal(commits, 4)
  const { entries } = await memory.list({ start: '/', end: '0' })
  assert.ok(entries.every(({ key, value }) => key === `/registry/a/${value}`))
  snapshots.remove(name)
  await assert.rejects(snapshots.restore(name), /snapshots "1" not found/)
})
