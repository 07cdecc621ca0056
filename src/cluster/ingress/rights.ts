/** The rights of the ingress proxy: a user with its own role, created only in clusters with ingress. */
import type { V1PolicyRule } from '@kubernetes/client-node'
import { clusterRoleBindings, clusterRoles } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { gatewayGroup } from '../../network/ingress/picture/gateway/kinds.ts'
import { ingressUser } from './messages.ts'

const role = 'system:t8s-ingress'
const manager = 't8s'
const rbac = 'rbac.authorization.k8s.io'

const rule = (verbs: string, resources: string, apiGroup = ''): V1PolicyRule => ({
  apiGroups: [apiGroup],
  resources: resources.split(' '),
  verbs: verbs.split(' '),
})

/** Secrets are watched one by one: those that an object names. */
const rules: readonly V1PolicyRule[] = [
  rule('list watch', 'services secrets'),
  rule('list watch', 'endpointslices', 'discovery.k8s.io'),
  rule('get list watch', 'ingresses', 'networking.k8s.io'),
  rule('list watch create', 'ingressclasses', 'networking.k8s.io'),
  rule('update', 'ingresses/status', 'networking.k8s.io'),
  rule('create patch', 'events'),
  // The Gateway API, whose definitions may be installed at any time.
  rule('list watch', 'customresourcedefinitions', 'apiextensions.k8s.io'),
  rule('list watch', 'namespaces'),
  rule('get list watch', 'gatewayclasses gateways httproutes grpcroutes referencegrants', gatewayGroup),
  rule('create', 'gatewayclasses', gatewayGroup),
  rule('update', 'gatewayclasses/status gateways/status httproutes/status grpcroutes/status', gatewayGroup),
]

/** Creates the role and its binding, or restores them. */
export async function grantIngress(administrator: RestClient): Promise<void> {
  await administrator.apply(clusterRoles, { metadata: { name: role }, rules: [...rules] }, manager)
  const subjects = [{ kind: 'User', apiGroup: rbac, name: ingressUser }]
  await administrator.apply(
    clusterRoleBindings,
    { metadata: { name: role }, subjects, roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role } },
    manager,
  )
}
