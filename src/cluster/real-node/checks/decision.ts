/** Decides if the node of a cluster is a real one. Cases of machines that can be one belong into `obstacles.ts`. */
import { reasonOf } from '../../../lib/explained-error.ts'
import type { MachinesPlan } from '../../machines/plan-machines.ts'
import type { RealNode } from '../index.ts'
import { type NodeRunner, runnerOnOwnThread, runnerOnThisThread } from '../thread/node-runner.ts'
import { ObstacleError } from './obstacle-error.ts'
import type { CheckedNode } from './requirements.ts'

/** A real node with its settings, machines, or the reason why there is none. */
export type NodeDecision =
  | { readonly type: 'real'; readonly node: CheckedNode; readonly runner: NodeRunner }
  | { readonly type: 'machines'; readonly plan: MachinesPlan }
  | { readonly type: 'simulated'; readonly reason: string }

const inMemory = { reason: 'the cluster is in memory', remedy: 'set storage to { directory }' }

export interface DecisionOptions {
  readonly options: RealNode
  /** The folder of the node's files; undefined for a cluster in memory. */
  readonly folder: string | undefined
  /** Stopped if there is no real node. */
  readonly runner: NodeRunner
  readonly log: (line: string) => void
}

/**
 * Decides for a cluster. Without a fallback, rejects with an ExplainedError that names what is missing on this machine,
 * and how to get it. The caller stops the runner of a real node.
 */
export async function decideNodeType({ options, folder, runner, log }: DecisionOptions): Promise<NodeDecision> {
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

/**
 * The thread of a node that may be real. It loads its code while the machine is checked and the cluster starts. The
 * most frequent obstacles are known before: there is no thread then.
 */
export const earlyRunner = (options: RealNode, log: (line: string) => void): NodeRunner =>
  process.platform === 'linux' && process.getuid?.() === 0
    ? runnerOnOwnThread(isEmbedded(options), log)
    : runnerOnThisThread(log)

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
