/** The rights of a cluster's own components, which are users with certificates. */
import type { V1PolicyRule } from '@kubernetes/client-node'
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'

const manager = 't8s'
const rbac = 'rbac.authorization.k8s.io'

/** Rights in the whole cluster, and in one namespace. */
export interface Rights {
  readonly rules: readonly V1PolicyRule[]
  readonly own?: { readonly namespace: string; readonly rules: readonly V1PolicyRule[] }
}

/** Creates the roles of a user and their bindings, which have its name, or restores them. */
export async function grantRights(client: RestClient, user: string, { rules, own }: Rights): Promise<void> {
  const metadata = { name: user }
  const subjects = [{ kind: 'User', apiGroup: rbac, name: user }]
  const roleRef = (kind: string) => ({ apiGroup: rbac, kind, name: user })
  const local = own && { ...metadata, namespace: own.namespace }
  await Promise.all([
    client.apply(clusterRoles, { metadata, rules: [...rules] }, manager),
    client.apply(clusterRoleBindings, { metadata, subjects, roleRef: roleRef('ClusterRole') }, manager),
    ...(local
      ? [
          client.apply(roles, { metadata: local, rules: [...own.rules] }, manager),
          client.apply(roleBindings, { metadata: local, subjects, roleRef: roleRef('Role') }, manager),
        ]
      : []),
  ])
}
