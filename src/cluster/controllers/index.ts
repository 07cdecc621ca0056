/** The cluster's controllers, in this thread or on one of their own. */
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import type { ControllerPlan } from '../../controllers/index.ts'
import type { Claims, ControllerTask } from './messages.ts'
import type { BegunControllers } from './run-task.ts'

export interface ClusterControllersOptions extends ControllerTask {
  readonly signToken: (claims: Claims) => Promise<string>
  /** Whether they get a thread of their own. */
  readonly onThread: boolean
  readonly log: (line: string) => void
}

/** Resolves when they have begun. Rejects with an ExplainedError where a port cannot be had. */
export async function clusterControllers({
  signToken,
  onThread,
  log,
  ...task
}: ClusterControllersOptions): Promise<BegunControllers> {
  if (onThread) return (await import('./thread.ts')).controllersOnThread(task, signToken, log)
  return (await import('./run-task.ts')).runTask(task, signToken, log)
}

/** What a server has to be told, so that it knows the controllers of a plan by their tokens. */
export const controllerTokens = ({ manager, controllers }: ControllerPlan): TokenUser[] =>
  [manager, ...controllers.map(({ identity }) => identity)].map(({ user, token }) => ({
    token,
    user: {
      name: user,
      groups: user.startsWith('system:serviceaccount:')
        ? ['system:serviceaccounts', 'system:serviceaccounts:kube-system']
        : [],
    },
  }))
