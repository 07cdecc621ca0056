/**
 * Clusters in memory in a child process, for tests that start many programs: a fork copies the page tables of the
 * process, which takes 15 ms with clusters in it and 1 ms without.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Reach } from './reachable-cluster.ts'

export interface ClusterProcess {
  readonly clusters: readonly Reach[]
  stop(): void
}

/** Starts a process that serves `count` clusters until it is stopped. */
export async function clusterProcess(count: number): Promise<ClusterProcess> {
  const child = fork(join(import.meta.dirname, 'serve-clusters.ts'), [`${count}`], { execArgv: [] })
  const [clusters] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the process of the clusters ended with ${code}`)
    }),
  ])
  return { clusters: clusters as readonly Reach[], stop: () => child.disconnect() }
}
