/** The cluster's controllers, in this thread or on their own. */
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import type { ControllerPlan } from '../../controllers/index.ts'
import type { MovableClock } from '../../lib/clock/movable-clock.ts'
import type { Claims, ControllerSettings } from './messages.ts'
import type { StartedControllers } from './run-task.ts'

export interface ClusterControllersOptions extends ControllerSettings {
  readonly clock: MovableClock
  readonly signToken: (claims: Claims) => Promise<string>
  /** True to run them on a thread of their own. */
  readonly onThread: boolean
  readonly log: (line: string) => void
}

/** Resolves when they have started. Rejects with an ExplainedError if a port is not available. */
export async function clusterControllers({
  signToken,
  onThread,
  clock,
  log,
  ...settings
}: ClusterControllersOptions): Promise<StartedControllers> {
  if (onThread) {
    const task = { ...settings, clockBuffer: clock.memory.buffer }
    return (await import('./thread.ts')).controllersOnThread(task, signToken, log)
  }
  return (await import('./run-task.ts')).runTask(settings, clock, signToken, log)
}

/** Returns the tokens by which the server authenticates the controllers of a plan. */
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
