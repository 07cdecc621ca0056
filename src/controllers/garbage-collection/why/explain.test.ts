import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ObjectState, stateOf } from '../graph/node.ts'
import { explain, type ObjectFacts, type OwnerFound } from './explain.ts'

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
const text = (more: Partial<ObjectFacts>) => explain(facts(more)).lines.join('\n')

test('what is kept says by whom', () => {
  assert.equal(text({}), 'ConfigMap default/c is kept: it has no owner, and nobody has deleted it')
  assert.equal(
    text({ owners: [owner(alive)] }),
    'ConfigMap default/c is kept: its owner is there\n  owner ConfigMap o is there',
  )
  assert.match(
    text({ owners: [owner(alive), owner('absent')] }),
    /loses its references to the others\n.* is there\n.* is not there$/,
  )
  assert.match(text({ owners: [owner('unknown kind')] }), /left alone\n.* does not know: v1$/)
  assert.equal(explain(facts({ owners: [owner('out of reach')] })).isKept, true)
})

test('garbage says what became of its owners', () => {
  const { isKept, lines } = explain(facts({ owners: [owner('another uid'), owner(waiting)] }))
  assert.equal(isKept, false)
  assert.match(
    lines.join('\n'),
    /is garbage: .*\(Background\)\n.*its uid is not 1\n.* is deleted after its dependents$/,
  )
})

test('what is being deleted says what holds it', () => {
  const dependents = Array.from({ length: 12 }, (_, i) => ({ title: `Pod default/p${i}`, blocks: true }))
  const state = stateOf({ deletionTimestamp: 'then', finalizers: ['foregroundDeletion', 'example.com/mine'] })
  const said = text({ state, deletedAt: 'then', dependents })
  assert.match(said, /being deleted since then\n.*12 of them block it\n {4}Pod default\/p0\n/)
  assert.match(said, /and 2 more\n.*finalizer example.com\/mine holds it/)
  assert.match(
    text({ state: stateOf({ deletionTimestamp: 'then', finalizers: ['orphan'] }), deletedAt: 'then', dependents }),
    /12 still name it as their owner/,
  )
})
