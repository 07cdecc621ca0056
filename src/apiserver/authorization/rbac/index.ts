/** Role-based access control: who has which roles, what these allow, and who may hand them out. */
export { missingRules } from './covers.ts'
export { guardRoles } from './escalation.ts'
export { rbacAuthorizer } from './rbac-authorizer.ts'
export { RolePolicy } from './role-policy.ts'
export type { PolicyRule, RoleRef, Subject } from './rule.ts'
