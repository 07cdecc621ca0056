/** Authorizers without data: `AlwaysAllow`, `AlwaysDeny`, and the one for members of system:masters. */
import { type Authorizer, allow, deny, noOpinion, type RuleSet } from './authorizer.ts'

const everything: RuleSet = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
}
const nothing: RuleSet = { resourceRules: [], nonResourceRules: [], incomplete: false }

/** Allows everything, for anonymous users too. */
export const alwaysAllow: Authorizer = { name: 'AlwaysAllow', authorize: () => allow(), rulesFor: () => everything }

/** Allows nothing. */
export const alwaysDeny: Authorizer = {
  name: 'AlwaysDeny',
  authorize: () => noOpinion('Everything is forbidden.'),
  rulesFor: () => nothing,
}

/** The first authorizer in all modes, as upstream: allows members everything. */
export const systemMasters: Authorizer = {
  name: 'system:masters',
  authorize: ({ user }) => (user?.groups.includes('system:masters') ? allow() : noOpinion()),
  rulesFor: () => nothing,
}

/** Public paths, as in upstream's role `system:public-info-viewer`. */
const publicPaths = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/'])

/** Allows authenticated users everything, and anonymous users the health and version paths. */
export const authenticatedOnly: Authorizer = {
  name: 'AuthenticatedOnly',
  authorize: ({ user, info }) =>
    user && !user.groups.includes('system:unauthenticated')
      ? allow()
      : !info.isResourceRequest && info.verb === 'get' && publicPaths.has(info.path)
        ? allow()
        : deny(),
  rulesFor: ({ groups }) => (groups.includes('system:unauthenticated') ? nothing : everything),
}
