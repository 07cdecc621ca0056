/** A user of a test cluster: a client certificate, a client and a kubeconfig. */
import { type Client, connectTo } from '../../client/connection/connect-to.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import type { ClusterUser } from '../credentials/cluster-users.ts'

/** A user whose rights are those of roles and bindings. */
export interface TestUser extends ClusterUser {
  /** A connected client, closed with the cluster. */
  readonly api: Client
  /** Writes the user's kubeconfig to a file that only its owner can read (mode 0600). */
  writeKubeconfig(path: string): void
}

/** Connects the user. The caller closes `api`. */
export async function testUser(user: ClusterUser, userAgent?: string): Promise<TestUser> {
  return {
    ...user,
    api: await connectTo({ access: user.client, ...(userAgent && { userAgent }) }),
    writeKubeconfig: (path) => writeKubeconfig(path, user.kubeconfigYaml),
  }
}

/** Throws an ExplainedError if the file cannot be written. */
export function writeKubeconfig(path: string, yaml: string): void {
  try {
    writeFileAtomically(path, yaml, 0o600)
  } catch (error) {
    throw new ExplainedError(`Cannot write the kubeconfig ${path}: ${reasonOf(error)}.`, { cause: error })
  }
}
