/** Users with client certificates of the cluster's authority. Roles and bindings define their rights. */
import { type Access, type Kubeconfig, kubeconfigFor, kubeconfigYaml } from '../../kubeconfig/kubeconfig.ts'
import { issueCertificate } from '../../lib/x509/certificates.ts'
import type { KeyPair } from '../pki/key-pair.ts'

/** The name and groups in a client certificate. */
export interface UserIdentity {
  readonly name: string
  /** Besides `system:authenticated`. */
  readonly groups?: readonly string[]
}

export interface ClusterUser {
  readonly client: Access
  readonly kubeconfig: Kubeconfig
  readonly kubeconfigYaml: string
}

/** Creates the user's certificate. `url` and `ca` are those of the cluster. */
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

/** Returns a user with a certificate, with the context `name`. */
export function userOf(client: Access, name: string): ClusterUser {
  const kubeconfig = kubeconfigFor(name, client)
  return { client, kubeconfig, kubeconfigYaml: kubeconfigYaml(kubeconfig) }
}
