/** A graph for tests, which notes what it says. */
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

export function notingGraph() {
  const said: string[] = []
  const graph = new Graph({
    attemptToDelete: (uid) => said.push(`look at ${uid}`),
    attemptToOrphan: (uid) => said.push(`release what ${uid} owns`),
    absent: ({ name }) => said.push(`${name} is absent`),
    invalidNamespace: (dependent, { name }) =>
      said.push(`${dependent.namespace}/${dependent.name} names ${name} of another namespace`),
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
    /** What was said since it was last asked. */
    said: () => said.splice(0),
  }
}
