/** The mode RBAC: decides by roles and their bindings. It allows or has no opinion, since roles cannot deny. */
import { type Authorizer, noOpinion } from '../authorizer.ts'
import { aggregated, type RolePolicy } from './role-policy.ts'

export const rbacAuthorizer = (policy: RolePolicy): Authorizer => ({
  name: 'RBAC',
  authorize: ({ user, info }) => (user ? policy.decide(user, info) : noOpinion()),
  rulesFor(user, namespace) {
    const { rules, errors } = policy.rulesFor(user, namespace)
    return {
      resourceRules: rules.flatMap(({ verbs, apiGroups, resources, resourceNames }) =>
        resources?.length
          ? {
              verbs,
              ...(apiGroups?.length && { apiGroups }),
              resources,
              ...(resourceNames?.length && { resourceNames }),
            }
          : [],
      ),
      nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs }) =>
        nonResourceURLs?.length ? { verbs, nonResourceURLs } : [],
      ),
      incomplete: false,
      ...(errors.length > 0 && { evaluationError: aggregated(errors) }),
    }
  },
})
