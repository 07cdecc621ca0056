/** The rights of the process that opens mapped ports, and the mappings that a start adds. */
import { Connection } from '../../client/connection/connection.ts'
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { mappingsObject } from '../../network/ports/mapping-object.ts'
import type { PortMapping } from '../../network/ports/port-mapping.ts'
import { addMappings } from '../../network/ports/stored-mappings.ts'

export const portsUser = 'system:t8s-ports'
const manager = 't8s'
const rbac = 'rbac.authorization.k8s.io'

/** Creates the roles and their bindings, or restores them, and adds mappings to those that are stored. */
export async function preparePorts(access: Access, mappings: readonly PortMapping[]): Promise<void> {
  const connection = new Connection(access)
  try {
    const client = new RestClient(connection)
    await Promise.all([grant(client), addMappings(client, mappings)])
  } finally {
    connection.close()
  }
}

async function grant(client: RestClient): Promise<void> {
  const { namespace, name } = mappingsObject
  const verbs = ['list', 'watch']
  const objects = { apiGroups: [''], resources: ['configmaps'], resourceNames: [name] }
  const rules = [
    { apiGroups: [''], resources: ['services'], verbs },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
  ]
  const subjects = [{ kind: 'User', apiGroup: rbac, name: portsUser }]
  const metadata = { name: portsUser }
  const own = { namespace, name: portsUser }
  const refTo = (kind: string) => ({ apiGroup: rbac, kind, name: portsUser })
  await Promise.all([
    client.apply(clusterRoles, { metadata, rules }, manager),
    client.apply(clusterRoleBindings, { metadata, subjects, roleRef: refTo('ClusterRole') }, manager),
    client.apply(roles, { metadata: own, rules: [{ ...objects, verbs: [...verbs, 'patch'] }] }, manager),
    client.apply(roleBindings, { metadata: own, subjects, roleRef: refTo('Role') }, manager),
  ])
}
