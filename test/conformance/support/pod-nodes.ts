/**
 * Clusters whose nodes run pods: suites of behaviours (`../suites`) run on simulated nodes, and on real ones
 * (`test/kubelet/support/real-nodes.ts`).
 */
import { after } from 'node:test'
import type { Node } from '../../../src/client/kinds.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { deadlineMs, Requests } from './requests.ts'
import { simulation } from './workloads.ts'

export interface PodNodes {
  /** True if containers run. */
  readonly areReal: boolean
  readonly cluster: ReachableCluster
  /** Makes a pod whose readiness probe is `toggledProbe` ready, or not. */
  setReady(namespace: string, pod: string, isReady: boolean): Promise<void>
}

/** Called at the top of a file; ends after its tests. */
export async function simulatedNodes(count: number): Promise<PodNodes> {
  const cluster = await testCluster({ after }, { nodes: count })
  await nodesReady(cluster, count)
  return {
    areReal: false,
    cluster,
    async setReady(namespace, pod, isReady) {
      const metadata = { annotations: { [`${simulation}ready`]: String(isReady) } }
      await cluster.call(
        'PATCH',
        `/api/v1/namespaces/${namespace}/pods/${pod}`,
        { metadata },
        'application/merge-patch+json',
      )
    },
  }
}

/** Resolves when so many nodes are ready. */
export const nodesReady = ({ call }: ReachableCluster, count: number): Promise<unknown> =>
  waitFor(
    `${count} ready nodes`,
    async () => {
      const { items } = (await call('GET', '/api/v1/nodes')) as unknown as { items: Node[] }
      const ready = items.filter(({ status }) =>
        status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
      )
      return ready.length === count
    },
    { deadlineMs, everyMs: 100 },
  )

/** Requests of a test in a namespace of its own. */
export const inNamespace = async (nodes: Promise<PodNodes>, name: string): Promise<Requests & { nodes: PodNodes }> => {
  const started = await nodes
  return Object.assign(await Requests.in(started.cluster, name), { nodes: started })
}
