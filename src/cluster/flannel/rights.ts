/** The rights of flannel in the process of a cluster's own node: those of upstream's ClusterRole that it uses. */
import type { ComponentRights } from '../../apiserver/bootstrap/roles/component-rights.ts'

export const flannelUser = 'system:t8s-flannel'

/** It knows its node without reading a pod, and events say which nodes it does not reach. */
export const flannelRights: ComponentRights = {
  user: flannelUser,
  rules: [
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  ],
}
