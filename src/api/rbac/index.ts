/** rbac.authorization.k8s.io, in the order of its discovery. */

import { clusterRoles } from './cluster-role.ts'
import { clusterRoleBindings } from './cluster-role-binding.ts'
import { roles } from './role.ts'
import { roleBindings } from './role-binding.ts'

export const resources = [clusterRoleBindings, clusterRoles, roleBindings, roles]
