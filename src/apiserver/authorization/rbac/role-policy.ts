/**
 * Watches roles and bindings and decides on users. Decisions are synchronous: they read only memory and scan nothing
 * (kubernetes.io/docs/reference/access-authn-authz/rbac).
 */
import type { KubeObject } from '../../../machinery/object.ts'
import { Informer } from '../../registry/informer.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import { type Decision, noOpinion } from '../authorizer.ts'
import { type BoundRole, RoleBindings } from './role-bindings.ts'
import type { PolicyRule, RoleRef, RuleAttributes, Subject } from './rule.ts'

/** The rules of a user. */
export interface OwnedRules {
  readonly rules: readonly PolicyRule[]
  /** Errors for bindings that refer to missing roles. */
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
  readonly #roles: readonly Informer<readonly PolicyRule[]>[]
  readonly #bound: readonly Informer<BoundRole>[]
  #started: Promise<void> | undefined

  constructor({ registry, find, log }: RolePolicySources) {
    this.#roles = ['clusterroles', 'roles'].map(
      (plural) =>
        new Informer({
          ...{ registry, resource: find(`${group}/${plural}`), read: rulesOf, log },
          changed: (_rules, _old, { namespace, name }) =>
            this.#bindings.roleChanged(namespace ? `${namespace}/${name}` : name),
        }),
    )
    this.#bound = ['clusterrolebindings', 'rolebindings'].map(
      (plural) =>
        new Informer({
          ...{ registry, resource: find(`${group}/${plural}`), read: boundRole, log },
          changed: (binding, old) => {
            if (old) this.#bindings.remove(old)
            if (binding) this.#bindings.add(binding)
          },
        }),
    )
  }

  /** Resolves when all roles and bindings are loaded. May be called repeatedly. */
  start(): Promise<void> {
    this.#started ??= Promise.all([...this.#roles, ...this.#bound].map((informer) => informer.start())).then(() => {})
    return this.#started
  }

  stop(): void {
    for (const informer of [...this.#roles, ...this.#bound]) informer.stop()
  }

  /**
   * The rules of the role that a binding in `namespace` (empty for a ClusterRoleBinding) refers to; undefined if it is
   * missing.
   */
  rulesOfRole(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const [clusterRoles, roles] = this.#roles
    return roleRef.kind === 'ClusterRole' ? clusterRoles!.get('', roleRef.name) : roles!.get(namespace, roleRef.name)
  }

  /** Checks the rules of the cluster scope first, then those of the request's namespace. */
  decide({ name, groups }: UserInfo, attributes: RuleAttributes & { readonly namespace: string }): Decision {
    let decision: Decision | undefined
    let missing: string[] | undefined
    const visit = (namespace: string): boolean =>
      this.#bindings.visitBindings(name, groups, namespace, (subject) => {
        const grants = subject.grants(this.#find)
        decision = grants.rules.decide(attributes)
        if (grants.missing.length > 0) (missing ??= []).push(...grants.missing)
        return decision !== undefined
      })
    if (visit('') || (attributes.namespace !== '' && visit(attributes.namespace))) return decision!
    return missing ? noOpinion(`RBAC: ${aggregated(missing)}`) : nothingFound
  }

  /** All rules of a user in a namespace, those of the cluster scope included. */
  rulesFor({ name, groups }: UserInfo, namespace: string): OwnedRules {
    const bindings = new Set<BoundRole>()
    const errors: string[] = []
    for (const scope of namespace ? ['', namespace] : [''])
      this.#bindings.visitBindings(name, groups, scope, (subject) => {
        for (const binding of subject.bound.keys()) bindings.add(binding)
        errors.push(...subject.grants(this.#find).missing)
        return false
      })
    return {
      rules: [...bindings].flatMap(({ roleRef, namespace: scope }) => this.rulesOfRole(roleRef, scope) ?? []),
      errors,
    }
  }

  readonly #find = (roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined =>
    this.rulesOfRole(roleRef, namespace)
}

const nothingFound = noOpinion()

/** Joins distinct errors as upstream does. */
export function aggregated(errors: readonly string[]): string {
  const different = [...new Set(errors)]
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`
}
