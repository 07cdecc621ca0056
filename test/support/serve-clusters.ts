/**
 * The child process of `cluster-process.ts`: serves the number of clusters in its argument until its parent
 * disconnects.
 */
import { startCluster } from '../../src/cluster/start-cluster.ts'
import { bareServer } from './bare-server.ts'
import type { Reach } from './reachable-cluster.ts'

const clusters = await Promise.all(
  Array.from({ length: Number(process.argv[2]) }, () =>
    startCluster({ storage: 'memory', thread: false, ...bareServer }),
  ),
)
process.send?.(clusters.map(({ url, client, kubeconfigYaml }): Reach => ({ url, client, kubeconfigYaml })))
process.on('disconnect', () => process.exit())
