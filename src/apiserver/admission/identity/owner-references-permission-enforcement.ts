/**
 * OwnerReferencesPermissionEnforcement: changing the owners of an object needs the permission to delete it, and
 * blocking the deletion of an owner needs the permission to update the owner's finalizers. Otherwise users could do
 * both through the garbage collector.
 */
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { OwnerReference } from '../../../machinery/object.ts'
import type { StatusError } from '../../../machinery/status-error.ts'
import type { AccessAttributes } from '../../authorization/authorizer.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import type { RequestInfo } from '../../request-info/request-info.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'

export function ownerReferencesPermissionEnforcement({ authorizer, apis }: PluginSources): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    handles: ['CREATE', 'UPDATE'],
    validate(attributes) {
      const { resource, subresource, object, old } = attributes
      // A status update cannot change owners.
      if (resource.groupResource.name === 'pods' && resource.groupResource.group === '' && subresource === 'status')
        return
      const owners = object?.metadata?.ownerReferences ?? []
      const before = old?.metadata?.ownerReferences ?? []
      if (!semanticallyEqual(owners, before)) return enforce(attributes, owners, before)
    },
  }

  async function enforce(
    attributes: AdmissionAttributes,
    owners: readonly OwnerReference[],
    before: readonly OwnerReference[],
  ): Promise<void> {
    const { operation, resource, subresource, namespace, name, user } = attributes
    const refuse = (why: string): StatusError => forbiddenWrite(attributes, why)
    const { group, version, plural } = resource.definition
    // On a create, the user may set any owners.
    if (operation === 'UPDATE') {
      const { verdict, reason, evaluationError } = await authorizer.authorize(
        accessAttributes(user, { verb: 'delete', group, version, namespace, resource: plural, subresource, name }),
      )
      if (verdict !== 'allow')
        throw refuse(`cannot set an ownerRef on a resource you can't delete: ${reason}, ${evaluationError ?? '<nil>'}`)
    }
    const blocking = newlyBlocking(owners, before)
    // A user who may update all finalizers is not checked further, not even for owners of unknown kinds.
    if (
      blocking.length === 0 ||
      (await authorizer.authorize(accessAttributes(user, anyFinalizers))).verdict === 'allow'
    )
      return
    for (const { apiVersion, kind, name: owner } of blocking) {
      const [ownerGroup, ownerVersion] = apiVersion.includes('/')
        ? (apiVersion.split('/', 2) as [string, string])
        : ['', apiVersion]
      const owned = apis.ofKind(ownerGroup, ownerVersion, kind)
      if (!owned) {
        throw refuse(
          'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ' +
            `${apiVersion} Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ` +
            `${JSON.stringify(apiVersion)}`,
        )
      }
      const { verdict, reason, evaluationError } = await authorizer.authorize(
        accessAttributes(user, {
          verb: 'update',
          group: ownerGroup,
          version: ownerVersion,
          namespace: owned.namespaced ? namespace : '',
          resource: owned.definition.plural,
          subresource: 'finalizers',
          name: owner,
        }),
      )
      if (verdict !== 'allow') {
        throw refuse(
          "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: " +
            `${reason}, ${evaluationError ?? '<nil>'}`,
        )
      }
    }
  }
}

type ResourceAccess = Pick<
  RequestInfo,
  'verb' | 'group' | 'version' | 'namespace' | 'resource' | 'subresource' | 'name'
>

const accessAttributes = (user: AccessAttributes['user'], asked: ResourceAccess): AccessAttributes => ({
  user,
  info: { ...asked, isResourceRequest: true, path: '', prefix: asked.group ? 'apis' : 'api', rest: [] },
})

const anyFinalizers: ResourceAccess = {
  verb: 'update',
  group: '*',
  version: '*',
  namespace: '',
  resource: '*',
  subresource: 'finalizers',
  name: '*',
}

/** Owners whose deletion the object blocks now but did not before. */
function newlyBlocking(
  owners: readonly OwnerReference[],
  before: readonly OwnerReference[],
): readonly OwnerReference[] {
  const blocked = new Set(before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid))
  return owners.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion && !blocked.has(uid))
}
