import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notingGraph, ownedBy } from './graph-fixture.ts'
import { blockingDependents, waitsForItself } from './node.ts'

const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }

test('an owner that nobody has seen is looked at once, and its dependents when it is not there', () => {
  const { graph, observe, said } = notingGraph()
  observe('first', [ownedBy('owner')])
  observe('second', [ownedBy('owner')])
  assert.deepEqual(said(), ['look at owner'])
  graph.remove('owner')
  assert.deepEqual(said(), ['owner is absent', 'look at first', 'look at second'])
  assert.equal(graph.get('owner'), undefined)
})

test('a dependent of an owner that was seen needs no look', () => {
  const { observe, said } = notingGraph()
  observe('owner')
  observe('dependent', [ownedBy('owner')])
  assert.deepEqual(said(), [])
})

test('who names an owner wrongly is looked at, whichever of both is seen first', () => {
  const { observe, said } = notingGraph()
  observe('owner')
  observe('misnamed', [ownedBy('owner', { name: 'other' })])
  observe('elsewhere', [ownedBy('owner')], { namespace: 'b' })
  assert.deepEqual(said(), ['look at misnamed', 'b/elsewhere names owner of another namespace', 'look at elsewhere'])

  observe('early', [ownedBy('late', { kind: 'Secret' })])
  observe('far', [ownedBy('late')], { namespace: 'b' })
  assert.deepEqual(said(), ['look at late', 'look at late'])
  observe('late')
  assert.deepEqual(said(), ['look at early', 'b/far names late of another namespace', 'look at far'])
})

test('an owner of the whole cluster reaches every namespace', () => {
  const { observe, said } = notingGraph()
  observe('wide', [], { namespace: undefined })
  observe('dependent', [ownedBy('wide')], { namespace: 'b' })
  assert.deepEqual(said(), [])
})

test(
  'a foreground deletion brings up all dependents, and the owner when the last that blocks it goes, lets it go ' +
    'or no longer blocks',
  () => {
    const { graph, observe, said } = notingGraph()
    observe('owner')
    for (const name of ['goes', 'released', 'unblocked'])
      observe(name, [ownedBy('owner', { blockOwnerDeletion: true })])
    observe('free', [ownedBy('owner')])
    observe('owner', [], { ...deleted, finalizers: ['foregroundDeletion'] })
    assert.deepEqual(said(), ['look at goes', 'look at released', 'look at unblocked', 'look at free', 'look at owner'])
    graph.remove('goes')
    observe('released', [])
    observe('unblocked', [ownedBy('owner', { blockOwnerDeletion: false })])
    assert.deepEqual(said(), ['look at owner', 'look at owner', 'look at owner'])
    assert.deepEqual(blockingDependents(graph.get('owner')!), [])
  },
)

test('the finalizer orphan has dependents released, once', () => {
  const { observe, said } = notingGraph()
  observe('owner', [], { ...deleted, finalizers: ['orphan'] })
  observe('owner', [], { ...deleted, finalizers: ['orphan'], resourceVersion: '2' })
  assert.deepEqual(said(), ['release what owner owns'])
})

test('a circle of owners that wait for each other is noticed, a chain is not', () => {
  const { graph, observe } = notingGraph()
  const waiting = { ...deleted, finalizers: ['foregroundDeletion'] }
  observe('a', [ownedBy('c', { blockOwnerDeletion: true })], waiting)
  observe('b', [ownedBy('a', { blockOwnerDeletion: true })], waiting)
  observe('c', [ownedBy('b', { blockOwnerDeletion: true })])
  assert.equal(waitsForItself(graph.get('a')!), false)
  observe('c', [ownedBy('b', { blockOwnerDeletion: true })], waiting)
  assert.equal(waitsForItself(graph.get('a')!), true)
  observe('a', [ownedBy('c', { blockOwnerDeletion: false })], waiting)
  assert.equal(waitsForItself(graph.get('a')!), false)
})

test('one that owns itself does not wait for itself', () => {
  const { graph, observe } = notingGraph()
  observe('self', [ownedBy('self', { blockOwnerDeletion: true })])
  assert.deepEqual(blockingDependents(graph.get('self')!), [])
})
