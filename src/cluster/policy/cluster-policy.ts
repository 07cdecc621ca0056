/** The rights of the thread that brings network policies into effect on a real node. */
import type { ComponentRights } from '../../apiserver/bootstrap/roles/component-rights.ts'
import { adminPolicyGroup, adminPolicyKinds } from '../../network/policy/picture/admin/kinds.ts'

export const policyUser = 'system:t8s-network-policy'

const verbs = ['list', 'watch']
const adminKinds = adminPolicyKinds.map(({ plural }) => plural)

export const policyRights: ComponentRights = {
  user: policyUser,
  rules: [
    { apiGroups: [''], resources: ['pods', 'namespaces', 'nodes'], verbs },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs },
    { apiGroups: [adminPolicyGroup], resources: adminKinds, verbs },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: adminKinds.map((plural) => `${plural}.${adminPolicyGroup}`),
      verbs,
    },
  ],
}
