/** The rights of the thread that brings network policies into effect on a real node. */
import type { ComponentRights } from '../../apiserver/bootstrap/roles/component-rights.ts'

export const policyUser = 'system:t8s-network-policy'

const verbs = ['list', 'watch']

export const policyRights: ComponentRights = {
  user: policyUser,
  rules: [
    { apiGroups: [''], resources: ['pods', 'namespaces'], verbs },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs },
  ],
}
