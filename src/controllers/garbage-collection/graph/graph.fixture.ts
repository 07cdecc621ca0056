/** A graph for tests, which records calls of its handlers. */
import { resource } from '../../../client/resource.ts'
import type { ObjectMeta, OwnerReference } from '../../../machinery/object.ts'
import { Graph } from './graph.ts'

export const configMaps = resource('v1', 'ConfigMap', 'configmaps')

export const ownedBy = (uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: uid,
  uid,
  ...more,
})

export function recordingGraph() {
  const calls: string[] = []
  const graph = new Graph({
    attemptToDelete: (uid) => calls.push(`delete? ${uid}`),
    attemptToOrphan: (uid) => calls.push(`orphan ${uid}`),
    absent: ({ name }) => calls.push(`absent ${name}`),
    invalidNamespace: (dependent, { name }) =>
      calls.push(`invalid namespace ${dependent.namespace}/${dependent.name} -> ${name}`),
  })
  return {
    graph,
    /** A ConfigMap whose uid is its name. */
    observe: (name: string, owners: OwnerReference[] = [], more: ObjectMeta = {}) =>
      graph.observe(configMaps, {
        name,
        namespace: 'a',
        uid: name,
        resourceVersion: '1',
        ownerReferences: owners,
        ...more,
      }),
    /** Returns and clears the recorded calls. */
    calls: () => calls.splice(0),
  }
}
