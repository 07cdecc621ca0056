/**
 * The rights of the simulation: a user with its own role (docs/decisions/0036-simulated-nodes.md), created only in
 * clusters with simulated nodes.
 */
import type { V1PolicyRule } from '@kubernetes/client-node'
import { apiServices, clusterRoleBindings, clusterRoles } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { fleetConfigMapOf, upOwner } from '../../simulation/index.ts'
import { simulationUser } from './messages.ts'

const role = 'system:simulated-nodes'
const manager = 't8s'
const rbac = 'rbac.authorization.k8s.io'

const rule = (verbs: string, resources: string, apiGroup = '', resourceNames?: string[]): V1PolicyRule => ({
  apiGroups: [apiGroup],
  resources: resources.split(' '),
  verbs: verbs.split(' '),
  ...(resourceNames && { resourceNames }),
})

const rules: readonly V1PolicyRule[] = [
  rule('get list watch create update patch delete', 'nodes'),
  rule('patch update', 'nodes/status pods/status'),
  rule('get list watch delete patch update', 'pods'),
  rule('create patch', 'events'),
  rule('get list create update', 'leases', 'coordination.k8s.io'),
  rule('create', 'configmaps'),
  rule('get list watch update', 'configmaps', '', [fleetConfigMapOf(upOwner).name]),
  rule('get', 'configmaps', '', ['extension-apiserver-authentication']),
  rule('delete', 'services', '', ['metrics-server']),
  rule('get delete', apiServices.plural, apiServices.group, ['v1beta1.metrics.k8s.io']),
  rule('create', 'subjectaccessreviews', 'authorization.k8s.io'),
]

/** Creates the role and its binding, or restores them. */
export async function grantSimulation(administrator: RestClient): Promise<void> {
  await administrator.apply(clusterRoles, { metadata: { name: role }, rules: [...rules] }, manager)
  const subjects = [{ kind: 'User', apiGroup: rbac, name: simulationUser }]
  await administrator.apply(
    clusterRoleBindings,
    { metadata: { name: role }, subjects, roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role } },
    manager,
  )
}
