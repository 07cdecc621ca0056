import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownedBy, recordingGraph } from './graph.fixture.ts'
import { blockingDependents, waitsForItself } from './node.ts'

const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }

test('an unobserved owner is enqueued once, and its dependents when it is absent', () => {
  const { graph, observe, calls } = recordingGraph()
  observe('first', [ownedBy('owner')])
  observe('second', [ownedBy('owner')])
  assert.deepEqual(calls(), ['delete? owner'])
  graph.remove('owner')
  assert.deepEqual(calls(), ['absent owner', 'delete? first', 'delete? second'])
  assert.equal(graph.get('owner'), undefined)
})

test('a dependent of an observed owner is not enqueued', () => {
  const { observe, calls } = recordingGraph()
  observe('owner')
  observe('dependent', [ownedBy('owner')])
  assert.deepEqual(calls(), [])
})

test('a dependent with a wrong reference is enqueued, in either order of observation', () => {
  const { observe, calls } = recordingGraph()
  observe('owner')
  observe('misnamed', [ownedBy('owner', { name: 'other' })])
  observe('elsewhere', [ownedBy('owner')], { namespace: 'b' })
  assert.deepEqual(calls(), ['delete? misnamed', 'invalid namespace b/elsewhere -> owner', 'delete? elsewhere'])

  observe('early', [ownedBy('late', { kind: 'Secret' })])
  observe('far', [ownedBy('late')], { namespace: 'b' })
  assert.deepEqual(calls(), ['delete? late', 'delete? late'])
  observe('late')
  assert.deepEqual(calls(), ['delete? early', 'invalid namespace b/far -> late', 'delete? far'])
})

test('a cluster-scoped owner may own objects in any namespace', () => {
  const { observe, calls } = recordingGraph()
  observe('wide', [], { namespace: undefined })
  observe('dependent', [ownedBy('wide')], { namespace: 'b' })
  assert.deepEqual(calls(), [])
})

test('a foreground deletion enqueues dependents, and the owner when it is unblocked', () => {
  const { graph, observe, calls } = recordingGraph()
  observe('owner')
  for (const name of ['goes', 'released', 'unblocked']) observe(name, [ownedBy('owner', { blockOwnerDeletion: true })])
  observe('free', [ownedBy('owner')])
  observe('owner', [], { ...deleted, finalizers: ['foregroundDeletion'] })
  assert.deepEqual(calls(), ['delete? goes', 'delete? released', 'delete? unblocked', 'delete? free', 'delete? owner'])
  graph.remove('goes')
  observe('released', [])
  observe('unblocked', [ownedBy('owner', { blockOwnerDeletion: false })])
  assert.deepEqual(calls(), ['delete? owner', 'delete? owner', 'delete? owner'])
  assert.deepEqual(blockingDependents(graph.get('owner')!), [])
})

test('the orphan finalizer causes one attemptToOrphan', () => {
  const { observe, calls } = recordingGraph()
  observe('owner', [], { ...deleted, finalizers: ['orphan'] })
  observe('owner', [], { ...deleted, finalizers: ['orphan'], resourceVersion: '2' })
  assert.deepEqual(calls(), ['orphan owner'])
})

test('waitsForItself detects cycles of waiting owners', () => {
  const { graph, observe } = recordingGraph()
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

test('an object that owns itself does not block itself', () => {
  const { graph, observe } = recordingGraph()
  observe('self', [ownedBy('self', { blockOwnerDeletion: true })])
  assert.deepEqual(blockingDependents(graph.get('self')!), [])
})
