/**
 * Authorizers that need to look at nothing: `AlwaysAllow`, `AlwaysDeny`, and the members of system:masters, whom nobody
 * refuses.
 */
import { type Authorizer, allow, deny, noOpinion, type RuleSet } from './authorizer.ts'

const everything: RuleSet = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
}
const nothing: RuleSet = { resourceRules: [], nonResourceRules: [], incomplete: false }

/** Everybody may do everything, anonymous users too. */
export const alwaysAllow: Authorizer = { name: 'AlwaysAllow', authorize: () => allow(), rulesFor: () => everything }

/** Nobody may do anything. */
export const alwaysDeny: Authorizer = {
  name: 'AlwaysDeny',
  authorize: () => noOpinion('Everything is forbidden.'),
  rulesFor: () => nothing,
}

/** Stands before all modes, as upstream: its members may do everything. */
export const systemMasters: Authorizer = {
  name: 'system:masters',
  authorize: ({ user }) => (user?.groups.includes('system:masters') ? allow() : noOpinion()),
  rulesFor: () => nothing,
}

/** Open to everybody, as upstream's role `system:public-info-viewer` has it. */
const publicPaths = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/'])

/** Every authenticated user may do everything; anonymous ones see health and version. */
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
