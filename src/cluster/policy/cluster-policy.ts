/** The rights of the process that brings network policies into effect on a real node. */
import { Connection } from '../../client/connection/connection.ts'
import { clusterRoleBindings, clusterRoles } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'

export const policyUser = 'system:t8s-network-policy'
const manager = 't8s'
const rbac = 'rbac.authorization.k8s.io'

/** Creates the role and its binding, or restores them. */
export async function grantPolicies(access: Access): Promise<void> {
  const connection = new Connection(access)
  try {
    const client = new RestClient(connection)
    const metadata = { name: policyUser }
    const verbs = ['list', 'watch']
    const rules = [
      { apiGroups: [''], resources: ['pods', 'namespaces'], verbs },
      { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs },
    ]
    const subjects = [{ kind: 'User', apiGroup: rbac, name: policyUser }]
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: policyUser }
    await Promise.all([
      client.apply(clusterRoles, { metadata, rules }, manager),
      client.apply(clusterRoleBindings, { metadata, subjects, roleRef }, manager),
    ])
  } finally {
    connection.close()
  }
}
