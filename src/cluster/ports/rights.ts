/** The rights of the thread that opens mapped ports. */
import type { ComponentRights } from '../../apiserver/bootstrap/roles/component-rights.ts'
import { mappingsObject } from '../../network/ports/mapping-object.ts'

export const portsUser = 'system:t8s-ports'

const { namespace, name } = mappingsObject
const verbs = ['list', 'watch']

export const portsRights: ComponentRights = {
  user: portsUser,
  rules: [
    { apiGroups: [''], resources: ['services'], verbs },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
  ],
  own: {
    namespace,
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: [...verbs, 'patch'] }],
  },
}
