/** An index of all bindings by subject. It is updated on each change, so that decisions need no scan. */
import { Grants } from './grants.ts'
import type { PolicyRule, RoleRef, Subject } from './rule.ts'

/** The relevant fields of a RoleBinding or ClusterRoleBinding. */
export interface BoundRole {
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string
  readonly name: string
  readonly roleRef: RoleRef
  readonly subjects: readonly Subject[]
}

/** Returns the rules of a role; undefined if it is missing. `namespace` is the binding's. */
export type FindRules = (roleRef: RoleRef, namespace: string) => readonly PolicyRule[] | undefined

/** The key of the role that a binding refers to. */
export const roleKey = ({ kind, name }: RoleRef, namespace: string): string =>
  kind === 'ClusterRole' ? name : `${namespace}/${name}`

/** The bindings of one subject in one scope. */
class SubjectBindings {
  readonly bound = new Map<BoundRole, Subject>()
  #grants: { readonly rules: Grants; readonly missing: readonly string[] } | undefined

  /** Compiled on first use after a change. */
  grants(find: FindRules): { readonly rules: Grants; readonly missing: readonly string[] } {
    if (this.#grants) return this.#grants
    const rules = new Grants()
    const missing: string[] = []
    for (const [binding, subject] of this.bound) {
      const found = find(binding.roleRef, binding.namespace)
      if (found) rules.add(found, describe(binding, subject))
      else missing.push(missingRole(binding.roleRef))
    }
    this.#grants = { rules, missing }
    return this.#grants
  }

  invalidate(): void {
    this.#grants = undefined
  }
}

/** A namespace, or the cluster. */
class Scope {
  readonly users = new Map<string, SubjectBindings>()
  readonly groups = new Map<string, SubjectBindings>()

  get isEmpty(): boolean {
    return this.users.size === 0 && this.groups.size === 0
  }
}

export class RoleBindings {
  readonly #scopes = new Map<string, Scope>()
  readonly #byRole = new Map<string, Set<BoundRole>>()

  add(binding: BoundRole): void {
    const key = roleKey(binding.roleRef, binding.namespace)
    let bound = this.#byRole.get(key)
    if (!bound) this.#byRole.set(key, (bound = new Set()))
    bound.add(binding)
    let scope = this.#scopes.get(binding.namespace)
    if (!scope) this.#scopes.set(binding.namespace, (scope = new Scope()))
    for (const { map, name, subject } of subjectEntries(scope, binding)) {
      let bindings = map.get(name)
      if (!bindings) map.set(name, (bindings = new SubjectBindings()))
      if (!bindings.bound.has(binding)) bindings.bound.set(binding, subject)
      bindings.invalidate()
    }
  }

  remove(binding: BoundRole): void {
    const key = roleKey(binding.roleRef, binding.namespace)
    const bound = this.#byRole.get(key)
    bound?.delete(binding)
    if (bound?.size === 0) this.#byRole.delete(key)
    const scope = this.#scopes.get(binding.namespace)
    if (!scope) return
    for (const { map, name } of subjectEntries(scope, binding)) {
      const bindings = map.get(name)
      bindings?.bound.delete(binding)
      bindings?.invalidate()
      if (bindings?.bound.size === 0) map.delete(name)
    }
    if (scope.isEmpty) this.#scopes.delete(binding.namespace)
  }

  /** Call when the rules of a role change, or when it is created or deleted. */
  roleChanged(key: string): void {
    for (const binding of this.#byRole.get(key) ?? []) {
      const scope = this.#scopes.get(binding.namespace)
      if (scope) for (const { map, name } of subjectEntries(scope, binding)) map.get(name)?.invalidate()
    }
  }

  /** Visits the bindings of a user, by name and by groups, in a namespace or (empty) in the cluster scope. */
  visitBindings(
    user: string,
    groups: readonly string[],
    namespace: string,
    visit: (bindings: SubjectBindings) => boolean,
  ): boolean {
    const scope = this.#scopes.get(namespace)
    if (!scope) return false
    const own = scope.users.get(user)
    if (own && visit(own)) return true
    for (const group of groups) {
      const bindings = scope.groups.get(group)
      if (bindings && visit(bindings)) return true
    }
    return false
  }
}

interface SubjectEntry {
  readonly map: Map<string, SubjectBindings>
  readonly name: string
  readonly subject: Subject
}

/** Service accounts are users with a special name. Subjects of unknown kinds are ignored. */
function subjectEntries(scope: Scope, { subjects, namespace }: BoundRole): SubjectEntry[] {
  return subjects.flatMap((subject): SubjectEntry[] => {
    if (subject.kind === 'User') return [{ map: scope.users, name: subject.name, subject }]
    if (subject.kind === 'Group') return [{ map: scope.groups, name: subject.name, subject }]
    const home = subject.namespace || namespace
    return subject.kind === 'ServiceAccount' && home
      ? [{ map: scope.users, name: `system:serviceaccount:${home}:${subject.name}`, subject }]
      : []
  })
}

/** Returns for example `RoleBinding "view/default" of ClusterRole "view" to User "jane"`. */
export function describe({ namespace, name, roleRef }: BoundRole, subject: Subject): string {
  const binding = namespace
    ? `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
    : `ClusterRoleBinding ${JSON.stringify(name)}`
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name
  return `${binding} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${JSON.stringify(who)}`
}

const missingRole = ({ kind, name }: RoleRef): string =>
  `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`
