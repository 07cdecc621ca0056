/** Decides if the node of a cluster is a real one. Cases of machines that can be one belong into `obstacles.ts`. */
import { reasonOf } from '../../../lib/explained-error.ts'
import type { RealNode } from '../index.ts'
import { type NodeRunner, runnerOnOwnThread, runnerOnThisThread } from '../thread/node-runner.ts'
import { ObstacleError } from './obstacle-error.ts'
import type { CheckedNode } from './requirements.ts'

/** A real node with its settings, or the reason why there is none. */
export type NodeDecision =
  | { readonly type: 'real'; readonly node: CheckedNode; readonly runner: NodeRunner }
  | { readonly type: 'simulated'; readonly reason: string }

const inMemory = { reason: 'the cluster is in memory', remedy: 'set storage to { directory }' }

export interface DecisionOptions {
  readonly options: RealNode
  /** The folder of the node's files; undefined for a cluster in memory. */
  readonly folder: string | undefined
  /** True if the node has a thread of its own. */
  readonly onThread: boolean
  readonly log: (line: string) => void
}

/**
 * Decides for a cluster. Without a fallback, rejects with an ExplainedError that names what is missing on this machine,
 * and how to get it. The caller stops the runner of a real node.
 */
export async function decideNodeType({ options, folder, onThread, log }: DecisionOptions): Promise<NodeDecision> {
  // Its thread loads its code during the checks and the start of the cluster.
  const runner = onThread && mayBeReal(folder) ? runnerOnOwnThread(isEmbedded(options), log) : runnerOnThisThread(log)
  try {
    const { checkRealNode } = await import('./requirements.ts')
    // Containers outlive the process, and a cluster in memory has no next start that would know them.
    if (folder === undefined) throw new ObstacleError(inMemory)
    return { type: 'real', node: await checkRealNode(options, folder, log), runner }
  } catch (error) {
    void runner.stop()
    if (options.fallback === undefined) throw error
    return { type: 'simulated', reason: reasonIn(error) }
  }
}

/** False for the most frequent obstacles, for which no thread has to start. */
const mayBeReal = (folder: string | undefined): boolean =>
  folder !== undefined && process.platform === 'linux' && process.getuid?.() === 0

const isEmbedded = ({ containerRuntimeEndpoint, docker }: RealNode): boolean =>
  containerRuntimeEndpoint === undefined && docker === undefined

/** The line that names the type of a simulated node and the reason for it. */
export const simulatedLine = (reason: string): string => `node: simulated, because ${reason}`

/** The reason why there is no real node, in an error of its start. */
export function reasonIn(error: unknown): string {
  if (!(error instanceof ObstacleError)) return `${reasonOf(error)} (--node-type=real insists)`
  const { reason, remedy, flag } = error.obstacle
  return `${reason} (${flag ? `${remedy} or ${flag}` : remedy} for a real one)`
}
