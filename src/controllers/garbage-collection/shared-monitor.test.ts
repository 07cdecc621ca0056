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

test('what an informer tells comes into the graph, changes and goes, until the monitor is stopped', async () => {
  const graph = new Graph({ attemptToDelete() {}, attemptToOrphan() {}, absent() {}, invalidNamespace() {} })
  const stopping = new AbortController()
  let tell: ChangeHandler<KubeObject> = () => assert.fail('nobody listens')
  const informer = {
    onChange(handler: ChangeHandler<KubeObject>) {
      tell = handler
      return () => {
        tell = () => {}
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
  tell(first, undefined)
  await turn()
  assert.equal(isSynced, false)
  known.resolve()
  await turn()
  assert.equal(isSynced, true)
  assert.equal(graph.get('one')?.state.resourceVersion, '1')

  const renewed = object('one', { resourceVersion: '2' })
  tell(renewed, first)
  assert.equal(graph.get('one')?.state.resourceVersion, '2')
  const owned = object('one', {
    resourceVersion: '3',
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'two', uid: 'two' }],
  })
  tell(owned, renewed)
  assert.deepEqual(
    [
      graph.get('one')?.state.resourceVersion,
      graph.get('one')?.state.owners.map(({ uid }) => uid),
      graph.get('two')?.dependents.size,
    ],
    ['3', ['two'], 1],
  )
  tell(undefined, owned)
  assert.equal(graph.get('one'), undefined)

  stopping.abort()
  await ended
  tell(object('three'), undefined)
  assert.equal(graph.get('three'), undefined)
})
