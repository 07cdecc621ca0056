/** The simplest of schedulers, for tests: each namespace has its node. */

import { Informer } from '../../src/client/informers/informer.ts'
import { type Node, nodes, type Pod, pods } from '../../src/client/kinds.ts'
import type { RestClient } from '../../src/client/rest/rest-client.ts'
import type { Lifetime } from '../support/test-cluster.ts'

/** Binds each pod without a node to the one that `nodeOf` names for its namespace, while that is schedulable, until the test is over. */
export function bindAll(t: Lifetime, client: RestClient, nodeOf: (namespace: string) => string): void {
  const ending = new AbortController()
  t.after(() => ending.abort())
  const unbound = new Informer<Pod>({ client, resource: pods, fieldSelector: 'spec.nodeName=', log: () => {} })
  const known = new Informer<Node>({ client, resource: nodes, log: () => {} })
  const bind = (pod: Pod | undefined): void => {
    const { namespace = '', name = '', deletionTimestamp } = pod?.metadata ?? {}
    const node = known.get('', nodeOf(namespace))
    if (!pod || deletionTimestamp || !node || node.spec?.unschedulable) return
    const target = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name }
    client.createUnder(pods, namespace, name, 'binding', { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target }).catch(() => {})
  }
  unbound.onChange(bind)
  known.onChange(() => {
    for (const pod of unbound.all()) bind(pod)
  })
  void known.run(ending.signal)
  void unbound.run(ending.signal)
}
