/** The rights of the process that brings network policies into effect on a real node. */
import { Connection } from '../../client/connection/connection.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { grantRights } from '../credentials/grant-rights.ts'

export const policyUser = 'system:t8s-network-policy'

/** Creates the role and its binding, or restores them. */
export async function grantPolicies(access: Access): Promise<void> {
  const connection = new Connection(access)
  try {
    const verbs = ['list', 'watch']
    const rules = [
      { apiGroups: [''], resources: ['pods', 'namespaces'], verbs },
      { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs },
    ]
    await grantRights(new RestClient(connection), policyUser, { rules })
  } finally {
    connection.close()
  }
}
