/** Makes sure of the roles and bindings that every cluster has, at each start. */
import { StatusError } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { createObject } from '../../registry/write/create-object.ts'
import { deleteObject } from '../../registry/write/delete-object.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { WriteContext, Writer } from '../../registry/write/write-context.ts'
import { type BindingObject, bootstrapRoles, type RoleObject } from './bootstrap-roles.ts'
import { reconciledBinding, reconciledRole } from './reconcile.ts'

/** What is to be done about an object that is there; nothing if undefined. */
type Reconcile<T> = (existing: T, expected: T) => { readonly object: T; readonly replace: boolean } | undefined

/** What admission refuses is logged, and left as it is. */
export async function ensureRoles(find: (key: string) => ServedResource, writer: Writer, log: (line: string) => void): Promise<void> {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = bootstrapRoles()
  const resource = (plural: string) => find(`rbac.authorization.k8s.io/v1/${plural}`)
  const role: Reconcile<RoleObject> = (existing, expected) => {
    const object = reconciledRole(existing, expected)
    return object && { object, replace: false }
  }
  await Promise.all([
    ensure(writer, resource('clusterroles'), clusterRoles, role, log),
    ensure(writer, resource('clusterrolebindings'), clusterRoleBindings, reconciledBinding, log),
    ensure(writer, resource('roles'), roles, role, log),
    ensure(writer, resource('rolebindings'), roleBindings, reconciledBinding, log),
  ])
}

async function ensure<T extends RoleObject | BindingObject>(
  writer: Writer,
  resource: ServedResource,
  objects: readonly T[],
  reconcile: Reconcile<T>,
  log: (line: string) => void,
): Promise<void> {
  await Promise.all(
    objects.map(async (expected) => {
      const { name = '', namespace = '' } = expected.metadata
      const context: WriteContext = { ...writer, resource, namespace, name, subresource: '' }
      const existing = await writer.registry.get(resource, resource.key(namespace, name))
      try {
        if (!existing) {
          await createObject(context, expected)
          return
        }
        const plan = reconcile(existing.parse() as T, expected)
        if (!plan) return
        if (!plan.replace) {
          await updateObject(context, { startsFromLive: true, change: (live) => ({ object: reconcile(live as T, expected)?.object ?? live! }) })
          return
        }
        await deleteObject(context, { dryRun: false })
        await createObject(context, plan.object)
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        // Another server on the same store may have been faster.
        if (error.code !== 409 && error.code !== 404) log(`${resource.groupResource.name} ${JSON.stringify(name)} is not as it should be: ${error.message}`)
      }
    }),
  )
}
