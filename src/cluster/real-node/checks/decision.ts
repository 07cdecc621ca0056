/** Decides if the node of a cluster is a real one. Cases of machines that can be one belong into `obstacles.ts`. */
import { reasonOf } from '../../../lib/explained-error.ts'
import type { RealNode } from '../index.ts'
import { ObstacleError } from './obstacle-error.ts'
import type { CheckedNode } from './requirements.ts'

/** A real node with its settings, or the reason why there is none. */
export type NodeDecision =
  | { readonly type: 'real'; readonly node: CheckedNode }
  | { readonly type: 'simulated'; readonly reason: string }

const inMemory = { reason: 'the cluster is in memory', remedy: 'set storage to { directory }' }

/**
 * Decides for a cluster whose node has its files in `folder`; undefined for one in memory. Without a fallback, rejects
 * with an ExplainedError that names what is missing on this machine, and how to get it.
 */
export async function decideNodeType(
  options: RealNode,
  folder: string | undefined,
  log: (line: string) => void,
): Promise<NodeDecision> {
  const { checkRealNode } = await import('./requirements.ts')
  try {
    // Containers outlive the process, and a cluster in memory has no next start that would know them.
    if (folder === undefined) throw new ObstacleError(inMemory)
    return { type: 'real', node: await checkRealNode(options, folder, log) }
  } catch (error) {
    if (options.fallback === undefined) throw error
    return { type: 'simulated', reason: reasonIn(error) }
  }
}

/** The line that names the type of a simulated node and the reason for it. */
export const simulatedLine = (reason: string): string => `node: simulated, because ${reason}`

/** The reason why there is no real node, in an error of its start. */
export function reasonIn(error: unknown): string {
  if (!(error instanceof ObstacleError)) return `${reasonOf(error)} (--node-type=real insists)`
  const { reason, remedy, flag } = error.obstacle
  return `${reason} (${flag ? `${remedy} or ${flag}` : remedy} for a real one)`
}
