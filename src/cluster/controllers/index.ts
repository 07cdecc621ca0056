/** The cluster's controllers, in this thread or on one of their own. */
import type { ControllerPlan, RunningControllers } from '../../controllers/index.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import type { Claims, ServerPlace } from './messages.ts'

export interface ClusterControllersOptions {
  readonly plan: ControllerPlan
  readonly server: ServerPlace
  readonly authority: KeyPair
  readonly signToken: (claims: Claims) => Promise<string>
  /** Whether they get a thread of their own. */
  readonly onThread: boolean
  readonly log: (line: string) => void
}

/** Resolves when they have begun. */
export async function clusterControllers({ plan, server, authority, signToken, onThread, log }: ClusterControllersOptions): Promise<RunningControllers> {
  if (onThread) return (await import('./thread.ts')).controllersOnThread({ plan, server, authority }, signToken, log)
  const [{ runControllers }, { certificateSigner }] = await Promise.all([import('../../controllers/index.ts'), import('../pki/certificate-signer.ts')])
  return runControllers(plan, { rootCA: server.ca, signer: certificateSigner(authority), signToken }, server, log)
}
