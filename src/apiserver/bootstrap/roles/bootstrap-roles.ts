/** All bootstrap roles and bindings, as objects. */
import type { KubeObject } from '../../../machinery/object.ts'
import type { PolicyRule, RoleRef, Subject } from '../../authorization/rbac/index.ts'
import {
  clusterRoleSubjects,
  type NamespacedBinding,
  namespacedBindings,
  systemAccount,
  systemUser,
} from './bindings.ts'
import type { ComponentRights } from './component-rights.ts'
import { componentRoles } from './component-roles.ts'
import { controllerRoles } from './controller-roles.ts'
import { gatedControllerRoles } from './gated-controller-roles.ts'
import { joiningRoles } from './joining-roles.ts'
import { namespacedRoles } from './namespaced-roles.ts'
import { userFacingRoles } from './user-facing-roles.ts'

export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly { readonly matchLabels?: Readonly<Record<string, string>> }[]
}

/** A Role or ClusterRole. */
export interface RoleObject extends KubeObject {
  rules: readonly PolicyRule[] | null
  aggregationRule?: AggregationRule
}

/** A RoleBinding or ClusterRoleBinding. */
export interface BindingObject extends KubeObject {
  roleRef: RoleRef
  subjects?: readonly Subject[]
}

export interface BootstrapRoles {
  readonly clusterRoles: readonly RoleObject[]
  readonly clusterRoleBindings: readonly BindingObject[]
  readonly roles: readonly RoleObject[]
  readonly roleBindings: readonly BindingObject[]
}

const apiGroup = 'rbac.authorization.k8s.io'
const apiVersion = `${apiGroup}/v1`

/** The value `false` prevents the server from updating the object. */
export const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate'

const metadata = (
  name: string,
  namespace = '',
  labels: Readonly<Record<string, string>> = {},
): KubeObject['metadata'] => ({
  name,
  ...(namespace && { namespace }),
  annotations: { [autoUpdate]: 'true' },
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
})

const aggregatesTo = (role: string): string => `${apiGroup}/aggregate-to-${role}`
/** Roles by the role they are aggregated to: `view` to `edit`, `edit` to `admin`. */
const aggregationTargets: Readonly<Record<string, string>> = { view: 'edit', edit: 'admin' }

function clusterRole(name: string, rules: readonly PolicyRule[]): RoleObject {
  const [, target] = /^system:aggregate-to-(\w+)$/.exec(name) ?? []
  return {
    kind: 'ClusterRole',
    apiVersion,
    metadata: metadata(name, '', target ? { [aggregatesTo(target)]: 'true' } : {}),
    rules,
  }
}

/** `rules` are the aggregated rules, so that the role works where no controller runs. */
function aggregated(name: string, rules: readonly PolicyRule[]): RoleObject {
  const target = aggregationTargets[name]
  return {
    ...{
      kind: 'ClusterRole',
      apiVersion,
      metadata: metadata(name, '', target ? { [aggregatesTo(target)]: 'true' } : {}),
      rules,
    },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregatesTo(name)]: 'true' } }] },
  }
}

const aggregatedRules = (name: string): readonly PolicyRule[] => userFacingRoles[`system:aggregate-to-${name}`]!
const view = aggregatedRules('view')
const edit = [...aggregatedRules('edit'), ...view]
const admin = [...edit, ...aggregatedRules('admin')]

const clusterRoleBinding = (name: string, subjects: readonly Subject[], role = name): BindingObject => ({
  ...{
    kind: 'ClusterRoleBinding',
    apiVersion,
    metadata: metadata(name),
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
  },
  ...(subjects.length > 0 && { subjects }),
})

const role = (namespace: string, name: string, rules: readonly PolicyRule[]): RoleObject => ({
  kind: 'Role',
  apiVersion,
  metadata: metadata(name, namespace),
  rules,
})

const roleBinding = ({ namespace, name, role = name, subjects }: NamespacedBinding): BindingObject => ({
  kind: 'RoleBinding',
  apiVersion,
  metadata: metadata(name, namespace),
  roleRef: { apiGroup, kind: 'Role', name: role },
  subjects,
})

/** True if some version of the kind is served. */
export type IsServed = (group: string, plural: string) => boolean

/** The objects that a cluster has beside upstream's bootstrap roles. */
export interface AddedRoles {
  /** Rights of components of the same program. */
  readonly components?: readonly ComponentRights[] | undefined
  /** The rights of services of joined nodes. Default: machines cannot join with bootstrap tokens. */
  readonly joinedNodes?: readonly PolicyRule[] | undefined
}

/** Returns new objects on each call; they share only rules and subjects. */
export function bootstrapRoles(isServed: IsServed, { components = [], joinedNodes }: AddedRoles = {}): BootstrapRoles {
  const joining = joinedNodes && joiningRoles(joinedNodes)
  const local = components.flatMap(({ user, own }) => (own ? [{ user, ...own }] : []))
  const gated = Object.entries(gatedControllerRoles).filter(([, { group, plural }]) => isServed(group, plural))
  const controllers = [...Object.entries(controllerRoles), ...gated.map(([name, { rules }]) => [name, rules] as const)]
  return {
    clusterRoles: [
      ...Object.entries({ ...userFacingRoles, ...componentRoles }).map(([name, rules]) => clusterRole(name, rules)),
      ...controllers.map(([name, rules]) => clusterRole(`system:controller:${name}`, rules)),
      ...[aggregated('admin', admin), aggregated('edit', edit), aggregated('view', view)],
      ...components.map(({ user, rules }) => clusterRole(user, rules)),
      ...Object.entries(joining?.clusterRoles ?? {}).map(([name, rules]) => clusterRole(name, rules)),
    ],
    clusterRoleBindings: [
      ...Object.entries(clusterRoleSubjects).map(([name, subjects]) => clusterRoleBinding(name, subjects)),
      ...controllers.map(([name]) => clusterRoleBinding(`system:controller:${name}`, [systemAccount(name)])),
      ...components.map(({ user }) => clusterRoleBinding(user, [systemUser(user)])),
      ...(joining?.clusterBindings ?? []).map(({ name, role, subjects }) => clusterRoleBinding(name, subjects, role)),
    ],
    roles: [
      ...Object.entries({ ...namespacedRoles, ...joining?.roles }).map(([path, rules]) => {
        const [namespace, name] = path.split('/') as [string, string]
        return role(namespace, name, rules)
      }),
      ...local.map(({ namespace, user, rules }) => role(namespace, user, rules)),
    ],
    roleBindings: [
      ...namespacedBindings,
      ...(joining?.bindings ?? []),
      ...local.map(({ namespace, user }) => ({ namespace, name: user, subjects: [systemUser(user)] })),
    ].map(roleBinding),
  }
}
