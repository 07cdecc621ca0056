import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ObjectState, stateOf } from '../graph/node.ts'
import { explainObject, type ObjectFacts, type OwnerFound } from './explain-object.ts'

const alive: ObjectState = stateOf({})
const waiting: ObjectState = stateOf({ deletionTimestamp: 'then', finalizers: ['foregroundDeletion'] })
const owner = (found: OwnerFound) => ({
  found,
  reference: { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '1' },
})
const facts = (more: Partial<ObjectFacts>): ObjectFacts => ({
  title: 'ConfigMap default/c',
  state: alive,
  owners: [],
  dependents: [],
  ...more,
})
const text = (more: Partial<ObjectFacts>) => explainObject(facts(more)).lines.join('\n')

test('a kept object lists its owners', () => {
  assert.equal(text({}), 'ConfigMap default/c is kept: it has no owner and is not deleted')
  assert.equal(
    text({ owners: [owner(alive)] }),
    'ConfigMap default/c is kept: its owner exists\n  owner ConfigMap o exists',
  )
  assert.match(
    text({ owners: [owner(alive), owner('absent')] }),
    /references to other owners are removed\n.* exists\n.* does not exist$/,
  )
  assert.match(text({ owners: [owner('unknown kind')] }), /it is not collected\n.* does not know: v1$/)
  assert.equal(explainObject(facts({ owners: [owner('out of reach')] })).isKept, true)
})

test('garbage lists the state of its owners', () => {
  const { isKept, lines } = explainObject(facts({ owners: [owner('another uid'), owner(waiting)] }))
  assert.equal(isKept, false)
  assert.match(
    lines.join('\n'),
    /is garbage: .*\(Background\)\n.*its uid is not 1\n.* is deleted after its dependents$/,
  )
})

test('an object being deleted lists what blocks its deletion', () => {
  const dependents = Array.from({ length: 12 }, (_, i) => ({ title: `Pod default/p${i}`, blocks: true }))
  const state = stateOf({ deletionTimestamp: 'then', finalizers: ['foregroundDeletion', 'example.com/mine'] })
  const output = text({ state, deletedAt: 'then', dependents })
  assert.match(output, /being deleted since then\n.*12 of them block it\n {4}Pod default\/p0\n/)
  assert.match(output, /and 2 more\n.*finalizer example.com\/mine blocks its deletion/)
  assert.match(
    text({ state: stateOf({ deletionTimestamp: 'then', finalizers: ['orphan'] }), deletedAt: 'then', dependents }),
    /12 still have it as owner/,
  )
})
