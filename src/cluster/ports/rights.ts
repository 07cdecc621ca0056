/** The rights of the process that opens mapped ports, and the mappings that a start adds. */
import { Connection } from '../../client/connection/connection.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { mappingsObject } from '../../network/ports/mapping-object.ts'
import type { PortMapping } from '../../network/ports/port-mapping.ts'
import { addMappings } from '../../network/ports/stored-mappings.ts'
import { grantRights } from '../credentials/grant-rights.ts'

export const portsUser = 'system:t8s-ports'

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
  await grantRights(client, portsUser, {
    rules: [
      { apiGroups: [''], resources: ['services'], verbs },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
    ],
    own: {
      namespace,
      rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: [...verbs, 'patch'] }],
    },
  })
}
