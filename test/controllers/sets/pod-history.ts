/** What became of the pods of a namespace, in the order in which it happened. */
import { Connection } from '../../../src/client/connection/connection.ts'
import { type Pod, pods } from '../../../src/client/kinds.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'

/** Called with a change, and all pods as they were before it. `pod` is undefined where it has gone. */
export type PodChange = (name: string, pod: Pod | undefined, before: ReadonlyMap<string, Pod>) => void

/** Follows a namespace's pods from now on, until the function that it resolves with is called: that rejects with what `change` threw. */
export async function followPods(cluster: ReachableCluster, namespace: string, change: PodChange): Promise<() => Promise<void>> {
  const connection = new Connection(cluster.client)
  const client = new RestClient(connection)
  const stopping = new AbortController()
  const { resourceVersion } = await client.list(pods, { namespace })
  const all = new Map<string, Pod>()
  const follow = async (): Promise<void> => {
    for await (const { type, object } of client.watch(pods, { namespace, resourceVersion, signal: stopping.signal })) {
      const { name = '' } = object.metadata
      if (type === 'BOOKMARK') continue
      change(name, type === 'DELETED' ? undefined : object, all)
      if (type === 'DELETED') all.delete(name)
      else all.set(name, object)
    }
  }
  const following = follow().then(
    () => undefined,
    (error: unknown) => (stopping.signal.aborted ? undefined : { error }),
  )
  return async () => {
    stopping.abort()
    connection.close()
    const failure = await following
    if (failure) throw failure.error
  }
}
