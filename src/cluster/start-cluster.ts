/** `startCluster`: clusters for programs, mainly tests. The code of a cluster is loaded when one is started. */
import { ExplainedError } from '../lib/explained-error.ts'
import type { Cluster, ClusterOptions } from './cluster-options.ts'
import { hostedCluster } from './hosting/cluster-host.ts'
import { checkOptions } from './options/check-options.ts'
import { optionWords } from './options/option-words.ts'
import { memoryVolumes } from './volumes/memory-volumes.ts'

export type { Cluster, ClusterOptions } from './cluster-options.ts'

/**
 * Starts a cluster and resolves when it is ready. Rejects with an ExplainedError if the user can fix the problem.
 *
 * @example
 * await using cluster = await startCluster()
 * console.log(cluster.kubeconfigYaml)
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  checkOptions(options)
  const words = optionWords(options)
  const given = options.log ? { ...options, log: words.log(options.log) } : options
  if (options.nodes) memoryVolumes.removeAtExit()
  const obstacle = threadObstacle(options)
  if (options.thread && obstacle)
    throw new ExplainedError(
      `a cluster with ${obstacle} runs on the thread of the program: leave out the option thread`,
    )
  try {
    if (options.thread ?? !obstacle) return await hostedCluster(given)
    const { runCluster } = await import('./run-cluster.ts')
    return await runCluster(given)
  } catch (error) {
    throw words.error(error)
  }
}

/** The reason why a cluster cannot run on another thread: functions cannot be passed to one. */
function threadObstacle({ nodes, scheduler, requestHeader }: ClusterOptions): string | undefined {
  if (typeof nodes === 'object' && nodes.real) return 'a real node'
  if (typeof nodes === 'object' && nodes.machines !== undefined) return 'machines'
  if (typeof scheduler === 'object' && scheduler.plugins?.length) return 'plugins of the scheduler'
  if (typeof requestHeader?.clientCA === 'function') return 'a function as requestHeader.clientCA'
  return undefined
}
