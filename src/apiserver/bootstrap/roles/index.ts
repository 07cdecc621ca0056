/** Ensures the bootstrap roles and bindings at each start. */
import type { ServedResource } from '../../registry/served-resource.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import { ensureObjects, type Reconcile } from '../ensure-objects.ts'
import { type AddedRoles, bootstrapRoles, type IsServed, type RoleObject } from './bootstrap-roles.ts'
import { reconciledBinding, reconciledRole } from './reconcile.ts'

/** Writes that admission rejects are logged. */
export async function ensureRoles(
  find: (key: string) => ServedResource,
  isServed: IsServed,
  writer: Writer,
  added: AddedRoles,
  log: (line: string) => void,
): Promise<void> {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = bootstrapRoles(isServed, added)
  const resource = (plural: string) => find(`rbac.authorization.k8s.io/v1/${plural}`)
  const role: Reconcile<RoleObject> = (existing, expected) => {
    const object = reconciledRole(existing, expected)
    return object && { object, replace: false }
  }
  await Promise.all([
    ensureObjects({ writer, resource: resource('clusterroles'), objects: clusterRoles, reconcile: role, log }),
    ensureObjects({
      writer,
      resource: resource('clusterrolebindings'),
      objects: clusterRoleBindings,
      reconcile: reconciledBinding,
      log,
    }),
    ensureObjects({ writer, resource: resource('roles'), objects: roles, reconcile: role, log }),
    ensureObjects({
      writer,
      resource: resource('rolebindings'),
      objects: roleBindings,
      reconcile: reconciledBinding,
      log,
    }),
  ])
}
