/**
 * ABAC: decides by a file of policies that is read once. Rules: kubernetes.io/docs/reference/access-authn-authz/abac
 */
import { type Authorizer, allow, noOpinion } from '../authorizer.ts'
import { allows, isFor, type Policy } from './policy.ts'

export type { Policy } from './policy.ts'
export { parsePolicies, unversionedLines } from './policy-file.ts'

export const abacAuthorizer = (policies: readonly Policy[]): Authorizer => ({
  name: 'ABAC',
  authorize: ({ user, info }) =>
    policies.some((policy) => allows(policy, user, info)) ? allow() : noOpinion('No policy matched.'),
  rulesFor(user, namespace) {
    const ruling = policies.filter(
      (policy) => isFor(policy, user) && (policy.namespace === '*' || policy.namespace === namespace),
    )
    const verbs = ({ readonly }: Policy): readonly string[] => (readonly ? ['get', 'list', 'watch'] : ['*'])
    return {
      resourceRules: ruling.flatMap((policy) =>
        policy.resource ? [{ verbs: verbs(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] }] : [],
      ),
      nonResourceRules: ruling.flatMap((policy) =>
        policy.nonResourcePath ? [{ verbs: verbs(policy), nonResourceURLs: [policy.nonResourcePath] }] : [],
      ),
      incomplete: false,
    }
  },
})
