/**
 * Nobody hands out rights they do not have: who writes a role must have all of its rules, who writes a binding those of
 * the role, unless the verbs `escalate` and `bind` say otherwise (kubernetes.io/docs/reference/access-authn-authz/rbac,
 * privilege escalation prevention).
 */
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { forbidden, notFound } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { WriteContext } from '../../registry/write/write-context.ts'
import type { WriteGuard } from '../../registry/write/write-guard.ts'
import type { Authorizer } from '../authorizer.ts'
import { missingRights } from './covers.ts'
import type { RolePolicy } from './role-policy.ts'
import type { PolicyRule, RoleRef } from './rule.ts'

const rbacGroup = 'rbac.authorization.k8s.io'
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

interface RoleObject extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly unknown[] | null } | null
}

interface BindingObject extends KubeObject {
  readonly roleRef: RoleRef
}

/** Sets the guards of the four kinds. They hold whatever authorizers decide; who may all passes. */
export function guardRoles(find: (key: string) => ServedResource, policy: RolePolicy, authorizer: Authorizer): void {
  for (const plural of ['roles', 'clusterroles'])
    find(`${rbacGroup}/v1/${plural}`).writeGuard = roleGuard(policy, authorizer)
  for (const plural of ['rolebindings', 'clusterrolebindings'])
    find(`${rbacGroup}/v1/${plural}`).writeGuard = bindingGuard(policy, authorizer)
}

const isMaster = ({ user }: WriteContext): boolean => user.groups.includes('system:masters')

function roleGuard(policy: RolePolicy, authorizer: Authorizer): WriteGuard {
  return async (context, object, old) => {
    if (isMaster(context) || (old && onlyLetsGo(object, old))) return
    const { resource, namespace, name } = context
    if (await mayDo(authorizer, context, { verb: 'escalate', resource: resource.definition.plural, namespace, name }))
      return
    const { rules, aggregationRule } = object as RoleObject
    await policy.start()
    confirm(policy, context, object, rules ?? [])
    if (!aggregates(aggregationRule) && !aggregates((old as RoleObject | undefined)?.aggregationRule)) return
    // Whatever others write may come to be in it.
    if (missingRights(policy.rulesFor(context.user, namespace).rules, everything).length === 0) return
    throw forbidden(
      resource.groupResource,
      object.metadata.name ?? '',
      'must have cluster-admin privileges to use the aggregationRule',
    )
  }
}

function bindingGuard(policy: RolePolicy, authorizer: Authorizer): WriteGuard {
  return async (context, object, old) => {
    if (isMaster(context) || (old && onlyLetsGo(object, old))) return
    const { namespace } = context
    const { roleRef } = object as BindingObject
    const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles'
    if (await mayDo(authorizer, context, { verb: 'bind', resource, namespace, name: roleRef.name })) return
    await policy.start()
    const rules = policy.rulesOfRole(roleRef, namespace)
    // Upstream names the kind of the binding with the name of the role.
    if (!rules) throw notFound(context.resource.groupResource, roleRef.name)
    confirm(policy, context, object, rules)
  }
}

const aggregates = (rule: RoleObject['aggregationRule']): boolean => (rule?.clusterRoleSelectors?.length ?? 0) > 0

/** The garbage collector may free an object that it could not grant, and who changes nothing grants nothing. */
function onlyLetsGo(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields, ...kept } = object.metadata
  const metadata = { ...kept, ...pick(old.metadata) }
  return semanticallyEqual({ ...object, metadata }, old)
}

const pick = ({
  ownerReferences,
  finalizers,
  managedFields,
}: KubeObject['metadata']): Partial<KubeObject['metadata']> => ({
  ...(ownerReferences && { ownerReferences }),
  ...(finalizers && { finalizers }),
  ...(managedFields && { managedFields }),
})

interface Wanted {
  readonly verb: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

async function mayDo(authorizer: Authorizer, { user }: WriteContext, wanted: Wanted): Promise<boolean> {
  const place = {
    isResourceRequest: true,
    path: '',
    prefix: 'apis',
    group: rbacGroup,
    version: '*',
    subresource: '',
    rest: [],
  }
  return (await authorizer.authorize({ user, info: { ...place, ...wanted } })).verdict === 'allow'
}

/** Throws 403 that lists what the user does not have of `rules`, a line each. */
function confirm(
  policy: RolePolicy,
  { user, namespace, resource }: WriteContext,
  object: KubeObject,
  rules: readonly PolicyRule[],
): void {
  const owned = policy.rulesFor(user, namespace)
  const missing = missingRights(owned.rules, rules)
  if (missing.length === 0) return
  const groups = user.groups.map((group) => JSON.stringify(group)).join(' ')
  const errors = owned.errors.length > 0 ? `; resolution errors: [${owned.errors.join(' ')}]` : ''
  throw forbidden(
    resource.groupResource,
    object.metadata.name ?? '',
    `user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not ` +
      `currently held:\n${missing.join('\n')}${errors}`,
  )
}
