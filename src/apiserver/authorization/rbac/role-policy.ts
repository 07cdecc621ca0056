/**
 * Roles and their bindings, followed as they change, and what they say about a user. Decisions come at once: nothing is
 * read, nothing is scanned (kubernetes.io/docs/reference/access-authn-authz/rbac).
 */
import type { KubeObject } from '../../../machinery/object.ts'
import { FollowedObjects } from '../../registry/followed/followed-objects.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import { type Decision, noOpinion } from '../authorizer.ts'
import { type BoundRole, RoleBindings } from './role-bindings.ts'
import type { Asked, PolicyRule, RoleRef, Subject } from './rule.ts'

/** A user's rules. */
export interface OwnedRules {
  readonly rules: readonly PolicyRule[]
  /** About roles that bindings name and that are not there; empty if all are. */
  readonly errors: readonly string[]
}

interface RoleObject extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null
}

interface BindingObject extends KubeObject {
  readonly roleRef: RoleRef
  readonly subjects?: readonly Subject[] | null
}

export interface RolePolicySources {
  readonly registry: Registry
  readonly find: (key: string) => ServedResource
  readonly log: (line: string) => void
}

const group = 'rbac.authorization.k8s.io/v1'

const rulesOf = (object: StoredObject): readonly PolicyRule[] => (object.parse() as RoleObject).rules ?? []

function boundRole(object: StoredObject): BoundRole {
  const { roleRef, subjects } = object.parse() as BindingObject
  return { namespace: object.namespace, name: object.name, roleRef, subjects: subjects ?? [] }
}

export class RolePolicy {
  readonly #bindings = new RoleBindings()
  readonly #roles: readonly FollowedObjects<readonly PolicyRule[]>[]
  readonly #bound: readonly FollowedObjects<BoundRole>[]
  #started: Promise<void> | undefined

  constructor({ registry, find, log }: RolePolicySources) {
    this.#roles = ['clusterroles', 'roles'].map(
      (plural) =>
        new FollowedObjects({
          ...{ registry, resource: find(`${group}/${plural}`), read: rulesOf, log },
          changed: (_rules, _before, { namespace, name }) =>
            this.#bindings.roleChanged(namespace ? `${namespace}/${name}` : name),
        }),
    )
    this.#bound = ['clusterrolebindings', 'rolebindings'].map(
      (plural) =>
        new FollowedObjects({
          ...{ registry, resource: find(`${group}/${plural}`), read: boundRole, log },
          changed: (binding, before) => {
            if (before) this.#bindings.remove(before)
            if (binding) this.#bindings.add(binding)
          },
        }),
    )
  }

  /** Resolves when all roles and bindings are known. May be called again. */
  start(): Promise<void> {
    this.#started ??= Promise.all([...this.#roles, ...this.#bound].map((followed) => followed.start())).then(() => {})
    return this.#started
  }

  stop(): void {
    for (const followed of [...this.#roles, ...this.#bound]) followed.stop()
  }

  /**
   * The rules of the role that a binding in `namespace` (empty for a ClusterRoleBinding) names; undefined if there is
   * none.
   */
  rulesOfRole(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const [clusterRoles, roles] = this.#roles
    return roleRef.kind === 'ClusterRole' ? clusterRoles!.get('', roleRef.name) : roles!.get(namespace, roleRef.name)
  }

  /** Rules are asked for what `asked` is about: in all of the cluster first, then in its namespace. */
  decide({ name, groups }: UserInfo, asked: Asked & { readonly namespace: string }): Decision {
    let decision: Decision | undefined
    let missing: string[] | undefined
    const visit = (namespace: string): boolean =>
      this.#bindings.heldBy(name, groups, namespace, (held) => {
        const grants = held.grants(this.#find)
        decision = grants.rules.decide(asked)
        if (grants.missing.length > 0) (missing ??= []).push(...grants.missing)
        return decision !== undefined
      })
    if (visit('') || (asked.namespace !== '' && visit(asked.namespace))) return decision!
    return missing ? noOpinion(`RBAC: ${aggregated(missing)}`) : nothingFound
  }

  /** All rules that a user has in a namespace, those for all of the cluster among them. */
  rulesFor({ name, groups }: UserInfo, namespace: string): OwnedRules {
    const bindings = new Set<BoundRole>()
    const errors: string[] = []
    for (const scope of namespace ? ['', namespace] : [''])
      this.#bindings.heldBy(name, groups, scope, (held) => {
        for (const binding of held.bound.keys()) bindings.add(binding)
        errors.push(...held.grants(this.#find).missing)
        return false
      })
    return {
      rules: [...bindings].flatMap(({ roleRef, namespace: home }) => this.rulesOfRole(roleRef, home) ?? []),
      errors,
    }
  }

  readonly #find = (roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined =>
    this.rulesOfRole(roleRef, namespace)
}

const nothingFound = noOpinion()

/** Several errors in one text, as upstream puts them. */
export function aggregated(errors: readonly string[]): string {
  const different = [...new Set(errors)]
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`
}
