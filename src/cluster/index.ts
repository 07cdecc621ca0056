/** What the package offers to programs: a cluster within the process, for tests above all. */
export type { TokenUser } from '../apiserver/server.ts'
export { ExplainedError } from '../lib/explained-error.ts'
export { type Cluster, type ClusterOptions, startCluster } from './start-cluster.ts'
