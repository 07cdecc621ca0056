/** The public API for programs: a cluster within the process, mainly for tests. */
export type { TokenUser } from '../apiserver/server.ts'
export { ExplainedError } from '../lib/explained-error.ts'
export { type Cluster, type ClusterOptions, startCluster } from './start-cluster.ts'
