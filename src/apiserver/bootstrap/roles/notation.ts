/**
 * A short notation for the rules of bootstrap roles: lists are separated by spaces, `core` is the group without a
 * name.
 */
import type { PolicyRule } from '../../authorization/rbac/rule.ts'

/** Rules by role name. */
export type PolicyRules = Readonly<Record<string, readonly PolicyRule[]>>

export const read = 'get list watch'
export const write = 'create update patch delete deletecollection'

const words = (text: string): string[] => text.split(' ')
/** Verbs are listed in alphabetical order, as upstream lists them. */
const sorted = (text: string): string[] => words(text).sort()

/** Allows `verbs` on `resources`; only on those named `names`, if given. */
export const rule = (verbs: string, resources: string, groups = 'core', names = ''): PolicyRule => ({
  verbs: sorted(verbs),
  apiGroups: words(groups).map((group) => (group === 'core' ? '' : group)),
  resources: words(resources),
  ...(names && { resourceNames: words(names) }),
})

/** Allows `verbs` on non-resource paths. */
export const paths = (verbs: string, nonResourceURLs: string): PolicyRule => ({
  verbs: words(verbs),
  nonResourceURLs: words(nonResourceURLs),
})

/** The permission to write events, which nearly every component has. */
export const writeEvents = rule('create update patch', 'events', 'core events.k8s.io')
