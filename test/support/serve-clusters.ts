/**
 * The process that `cluster-process.ts` starts: serves as many clusters as its argument says until its parent lets go.
 */
import { startCluster } from '../../src/cluster/start-cluster.ts'
import { bareServer } from './bare-server.ts'
import type { Reach } from './reachable-cluster.ts'

const clusters = await Promise.all(
  Array.from({ length: Number(process.argv[2]) }, () => startCluster({ storage: 'memory', ...bareServer })),
)
process.send?.(clusters.map(({ url, client, kubeconfigYaml }): Reach => ({ url, client, kubeconfigYaml })))
process.on('disconnect', () => process.exit())
