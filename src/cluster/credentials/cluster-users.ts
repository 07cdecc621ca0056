/** Users of a cluster by client certificates of its authority: what they may do, roles and bindings say. */
import { type Access, type Kubeconfig, kubeconfigFor, kubeconfigYaml } from '../../kubeconfig/kubeconfig.ts'
import { issueCertificate } from '../pki/certificates.ts'
import type { KeyPair } from '../pki/key-pair.ts'

/** Who a client certificate names. */
export interface UserIdentity {
  readonly name: string
  /** Beside `system:authenticated`. */
  readonly groups?: readonly string[]
}

export interface ClusterUser {
  readonly client: Access
  readonly kubeconfig: Kubeconfig
  readonly kubeconfigYaml: string
}

/**
 * Makes the user's certificate; `url` and `ca` are where the cluster is reached, and by which authority it is known.
 */
export async function clusterUser(
  authority: KeyPair,
  { name, groups }: UserIdentity,
  server: Pick<Access, 'url' | 'ca'>,
): Promise<ClusterUser> {
  const pair = await issueCertificate(
    authority,
    { commonName: name, organizations: groups, usage: 'client' },
    new Date(),
  )
  return userOf({ ...server, ...pair }, name)
}

/** Somebody with a certificate, whose context is called `name`. */
export function userOf(client: Access, name: string): ClusterUser {
  const kubeconfig = kubeconfigFor(name, client)
  return { client, kubeconfig, kubeconfigYaml: kubeconfigYaml(kubeconfig) }
}
