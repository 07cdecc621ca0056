/** One cluster for all tests of a file, which use separate namespaces. */
import { after, before } from 'node:test'
import type { ClusterOptions } from '../../src/cluster/start-cluster.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'

/** Starts a cluster before the first test and stops it after the last. Call it at the top of a file. */
export function sharedCluster(options?: ClusterOptions): () => TestCluster {
  const cleanUps: (() => unknown)[] = []
  let cluster: TestCluster | undefined
  before(async () => {
    cluster = await testCluster({ after: (cleanUp) => void cleanUps.push(cleanUp) }, options)
  })
  after(async () => {
    for (const cleanUp of cleanUps) await cleanUp()
  })
  return () => {
    if (!cluster) throw new Error('the cluster starts before the first test')
    return cluster
  }
}
