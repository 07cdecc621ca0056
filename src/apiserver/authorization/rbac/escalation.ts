/**
 * Privilege escalation prevention: writing a role needs all of its permissions, and writing a binding those of its
 * role, unless the user has the verbs `escalate` or `bind` (kubernetes.io/docs/reference/access-authn-authz/rbac).
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

/**
 * Sets the write guards of the four kinds. They apply in all authorization modes; a user with all permissions passes.
 */
export function guardRoles(find: (key: string) => ServedResource, policy: RolePolicy, authorizer: Authorizer): void {
  for (const plural of ['roles', 'clusterroles'])
    find(`${rbacGroup}/v1/${plural}`).writeGuard = roleGuard(policy, authorizer)
  for (const plural of ['rolebindings', 'clusterrolebindings'])
    find(`${rbacGroup}/v1/${plural}`).writeGuard = bindingGuard(policy, authorizer)
}

const isMaster = ({ user }: WriteContext): boolean => user.groups.includes('system:masters')

function roleGuard(policy: RolePolicy, authorizer: Authorizer): WriteGuard {
  return async (context, object, old) => {
    if (isMaster(context) || (old && changesOnlyOwnership(object, old))) return
    const { resource, namespace, name } = context
    if (
      await isAllowed(authorizer, context, { verb: 'escalate', resource: resource.definition.plural, namespace, name })
    )
      return
    const { rules, aggregationRule } = object as RoleObject
    await policy.start()
    requireRules(policy, context, object, rules ?? [])
    if (!aggregates(aggregationRule) && !aggregates((old as RoleObject | undefined)?.aggregationRule)) return
    // An aggregated role may get any rule that others write.
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
    if (isMaster(context) || (old && changesOnlyOwnership(object, old))) return
    const { namespace } = context
    const { roleRef } = object as BindingObject
    const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles'
    if (await isAllowed(authorizer, context, { verb: 'bind', resource, namespace, name: roleRef.name })) return
    await policy.start()
    const rules = policy.rulesOfRole(roleRef, namespace)
    // As upstream: the kind of the binding with the name of the role.
    if (!rules) throw notFound(context.resource.groupResource, roleRef.name)
    requireRules(policy, context, object, rules)
  }
}

const aggregates = (rule: RoleObject['aggregationRule']): boolean => (rule?.clusterRoleSelectors?.length ?? 0) > 0

/**
 * Owners and finalizers may change without the permissions, for the garbage collector, as may updates without changes.
 */
function changesOnlyOwnership(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields, ...others } = object.metadata
  const metadata = { ...others, ...ownershipOf(old.metadata) }
  return semanticallyEqual({ ...object, metadata }, old)
}

const ownershipOf = ({
  ownerReferences,
  finalizers,
  managedFields,
}: KubeObject['metadata']): Partial<KubeObject['metadata']> => ({
  ...(ownerReferences && { ownerReferences }),
  ...(finalizers && { finalizers }),
  ...(managedFields && { managedFields }),
})

interface RequiredAccess {
  readonly verb: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

async function isAllowed(authorizer: Authorizer, { user }: WriteContext, access: RequiredAccess): Promise<boolean> {
  const target = {
    isResourceRequest: true,
    path: '',
    prefix: 'apis',
    group: rbacGroup,
    version: '*',
    subresource: '',
    rest: [],
  }
  return (await authorizer.authorize({ user, info: { ...target, ...access } })).verdict === 'allow'
}

/** Throws a 403 that lists the rules that the user lacks, one per line. */
function requireRules(
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
