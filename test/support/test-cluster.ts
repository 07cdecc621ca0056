/** A cluster in memory for one test, in the process of the test. */
import { type Cluster, type ClusterOptions, startCluster } from '../../src/cluster/start-cluster.ts'
import { type Lifetime, type ReachableCluster, reachable } from './reachable-cluster.ts'

export type { Answer, Lifetime } from './reachable-cluster.ts'

/** The controllers that the API itself needs, for tests whose objects no other controller should change. */
export const apiControllers: readonly string[] = [
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-token-controller',
  'clusterrole-aggregation-controller',
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-signing-controller',
]

export interface TestCluster extends Cluster, ReachableCluster {}

/** Starts a cluster that stops when the test is over. */
export async function testCluster(t: Lifetime, options: ClusterOptions = {}): Promise<TestCluster> {
  const cluster = await startCluster({ storage: 'memory', thread: false, ...options })
  t.after(() => cluster.stop({ graceMs: 0 }))
  return reachable(t, cluster)
}
