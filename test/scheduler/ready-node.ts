/** Nodes without kubelets for tests of scheduling. */
import type { ReachableCluster } from '../support/reachable-cluster.ts'

const merge = 'application/merge-patch+json'

export async function readyNode(
  cluster: ReachableCluster,
  name: string,
  labels: Record<string, string> = {},
): Promise<void> {
  const metadata = { name, labels: { 'kubernetes.io/hostname': name, ...labels } }
  await cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata })
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110' }
  await cluster.call('PATCH', `/api/v1/nodes/${name}/status`, { status: { allocatable, capacity: allocatable } }, merge)
  // New nodes have the not-ready taint, which a controller would remove.
  await cluster.call('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: null } }, merge)
}
