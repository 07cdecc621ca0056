import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { ChangeHandler, Informer } from '../../client/informers/informer.ts'
import { configMaps } from '../../client/kinds.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { Graph } from './graph/graph.ts'
import { sharedMonitor } from './shared-monitor.ts'

const object = (uid: string, metadata: KubeObject['metadata'] = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: uid, namespace: 'a', uid, resourceVersion: '1', ...metadata },
})

test('a shared monitor applies the informer events to the graph until it is stopped', async () => {
  const graph = new Graph({ attemptToDelete() {}, attemptToOrphan() {}, absent() {}, invalidNamespace() {} })
  const stopping = new AbortController()
  let emit: ChangeHandler<KubeObject> = () => assert.fail('no handler')
  const informer = {
    onChange(handler: ChangeHandler<KubeObject>) {
      emit = handler
      return () => {
        emit = () => {}
      }
    },
  } as unknown as Informer<KubeObject>
  const known = Promise.withResolvers<void>()
  let isSynced = false
  const options = {
    shared: { informer, synced: known.promise },
    resource: configMaps,
    graph,
    signal: stopping.signal,
    changed() {},
  }
  const ended = sharedMonitor({ ...options, synced: () => (isSynced = true) })

  const first = object('one')
  emit(first, undefined)
  await turn()
  assert.equal(isSynced, false)
  known.resolve()
  await turn()
  assert.equal(isSynced, true)
  assert.equal(graph.get('one')?.state.resourceVersion, '1')

  const renewed = object('one', { resourceVersion: '2' })
  emit(renewed, first)
  assert.equal(graph.get('one')?.state.resourceVersion, '2')
  const owned = object('one', {
    resourceVersion: '3',
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'two', uid: 'two' }],
  })
  emit(owned, renewed)
  assert.deepEqual(
    [
      graph.get('one')?.state.resourceVersion,
      graph.get('one')?.state.owners.map(({ uid }) => uid),
      graph.get('two')?.dependents.size,
    ],
    ['3', ['two'], 1],
  )
  emit(undefined, owned)
  assert.equal(graph.get('one'), undefined)

  stopping.abort()
  await ended
  emit(object('three'), undefined)
  assert.equal(graph.get('three'), undefined)
})
