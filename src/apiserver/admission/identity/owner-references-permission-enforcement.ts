/**
 * OwnerReferencesPermissionEnforcement: changing the owners of an object needs the permission to delete it, and
 * blocking the deletion of an owner needs the permission to update the owner's finalizers. Otherwise users could do
 * both through the garbage collector.
 */
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { OwnerReference } from '../../../machinery/object.ts'
import type { AccessAttributes, Authorizer } from '../../authorization/authorizer.ts'
import type { ServedApis } from '../../registry/served-apis.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import type { RequestInfo } from '../../request-info/request-info.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'

export function ownerReferencesPermissionEnforcement(sources: PluginSources): AdmissionPlugin {
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
      if (!semanticallyEqual(owners, before)) return checkChange(attributes, newlyBlocking(owners, before), sources)
    },
  }
}

/** `blocking` are the owners whose deletion the object blocks from now on. */
async function checkChange(
  attributes: AdmissionAttributes,
  blocking: readonly OwnerReference[],
  { authorizer, apis }: PluginSources,
): Promise<void> {
  // On a create, the user may set any owners.
  if (attributes.operation === 'UPDATE') await checkDelete(attributes, authorizer)
  if (blocking.length === 0) return
  // A user who may update all finalizers is not checked further, not even for owners of unknown kinds.
  const { verdict } = await authorizer.authorize(accessAttributes(attributes.user, anyFinalizers))
  if (verdict === 'allow') return
  for (const owner of blocking) await checkFinalizers(attributes, owner, authorizer, apis)
}

/** Checks that the user may delete the written object. */
async function checkDelete(attributes: AdmissionAttributes, authorizer: Authorizer): Promise<void> {
  const { resource, subresource, namespace, name, user } = attributes
  const { group, version, plural } = resource.definition
  const { verdict, reason, evaluationError } = await authorizer.authorize(
    accessAttributes(user, { verb: 'delete', group, version, namespace, resource: plural, subresource, name }),
  )
  if (verdict !== 'allow')
    throw forbiddenWrite(
      attributes,
      `cannot set an ownerRef on a resource you can't delete: ${reason}, ${evaluationError ?? '<nil>'}`,
    )
}

/** Checks that the user may update the finalizers of an owner. */
async function checkFinalizers(
  attributes: AdmissionAttributes,
  { apiVersion, kind, name }: OwnerReference,
  authorizer: Authorizer,
  apis: ServedApis,
): Promise<void> {
  const [version = '', group = ''] = apiVersion.split('/', 2).reverse()
  const owned = apis.ofKind(group, version, kind)
  if (!owned) {
    throw forbiddenWrite(
      attributes,
      'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ' +
        `${apiVersion} Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ` +
        `${JSON.stringify(apiVersion)}`,
    )
  }
  const { verdict, reason, evaluationError } = await authorizer.authorize(
    accessAttributes(attributes.user, {
      verb: 'update',
      group,
      version,
      namespace: owned.namespaced ? attributes.namespace : '',
      resource: owned.definition.plural,
      subresource: 'finalizers',
      name,
    }),
  )
  if (verdict !== 'allow') {
    throw forbiddenWrite(
      attributes,
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: " +
        `${reason}, ${evaluationError ?? '<nil>'}`,
    )
  }
}

type ResourceAccess = Pick<
  RequestInfo,
  'verb' | 'group' | 'version' | 'namespace' | 'resource' | 'subresource' | 'name'
>

const accessAttributes = (user: AccessAttributes['user'], access: ResourceAccess): AccessAttributes => ({
  user,
  info: { ...access, isResourceRequest: true, path: '', prefix: access.group ? 'apis' : 'api', rest: [] },
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
