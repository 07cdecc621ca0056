/**
 * OwnerReferencesPermissionEnforcement: who changes the owners of an object may delete it, and who has it hold up the
 * deletion of an owner may set that one's finalizers: both could be brought about through the garbage collector
 * otherwise.
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
      // Owners do not change there.
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
    // Who creates an object may say whose it is.
    if (operation === 'UPDATE') {
      const { verdict, reason, evaluationError } = await authorizer.authorize(
        question(user, { verb: 'delete', group, version, namespace, resource: plural, subresource, name }),
      )
      if (verdict !== 'allow')
        throw refuse(`cannot set an ownerRef on a resource you can't delete: ${reason}, ${evaluationError ?? '<nil>'}`)
    }
    const blocking = newlyBlocking(owners, before)
    // Who may hold up anything is asked nothing of owners, also not whether their kinds are known.
    if (blocking.length === 0 || (await authorizer.authorize(question(user, anyFinalizers))).verdict === 'allow') return
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
        question(user, {
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

type Asked = Pick<RequestInfo, 'verb' | 'group' | 'version' | 'namespace' | 'resource' | 'subresource' | 'name'>

const question = (user: AccessAttributes['user'], asked: Asked): AccessAttributes => ({
  user,
  info: { ...asked, isResourceRequest: true, path: '', prefix: asked.group ? 'apis' : 'api', rest: [] },
})

const anyFinalizers: Asked = {
  verb: 'update',
  group: '*',
  version: '*',
  namespace: '',
  resource: '*',
  subresource: 'finalizers',
  name: '*',
}

/** Owners that are held up and were not before. */
function newlyBlocking(
  owners: readonly OwnerReference[],
  before: readonly OwnerReference[],
): readonly OwnerReference[] {
  const blocked = new Set(before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid))
  return owners.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion && !blocked.has(uid))
}
