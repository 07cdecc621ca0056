/** The cluster's controllers, in this thread or on one of their own. */
import type { Claims, ControllerTask } from './messages.ts'
import type { BegunControllers } from './run-task.ts'

export interface ClusterControllersOptions extends ControllerTask {
  readonly signToken: (claims: Claims) => Promise<string>
  /** Whether they get a thread of their own. */
  readonly onThread: boolean
  readonly log: (line: string) => void
}

/** Resolves when they have begun. Rejects with an ExplainedError where a port cannot be had. */
export async function clusterControllers({ signToken, onThread, log, ...task }: ClusterControllersOptions): Promise<BegunControllers> {
  if (onThread) return (await import('./thread.ts')).controllersOnThread(task, signToken, log)
  return (await import('./run-task.ts')).runTask(task, signToken, log)
}
