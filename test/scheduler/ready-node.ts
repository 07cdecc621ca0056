/** Nodes that tests make: nobody runs there, but pods find room. */
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
  // A node begins with the taint of one that is not ready, which a controller would take away.
  await cluster.call('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: null } }, merge)
}
