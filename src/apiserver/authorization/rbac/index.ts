/** Role-based access control: roles, bindings, and privilege escalation prevention. */
export { missingRules } from './covers.ts'
export { guardRoles } from './escalation.ts'
export { rbacAuthorizer } from './rbac-authorizer.ts'
export { RolePolicy } from './role-policy.ts'
export type { PolicyRule, RoleRef, Subject } from './rule.ts'
