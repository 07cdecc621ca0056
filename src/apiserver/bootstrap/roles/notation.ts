/**
 * How the rules of the roles that every cluster has are written down: lists as words with spaces between them, `core`
 * for the group without a name.
 */
import type { PolicyRule } from '../../authorization/rbac/rule.ts'

/** Rules by the name of their role. */
export type PolicyRules = Readonly<Record<string, readonly PolicyRule[]>>

export const read = 'get list watch'
export const write = 'create update patch delete deletecollection'

const words = (text: string): string[] => text.split(' ')
/** Verbs are listed in alphabetical order, as upstream lists them. */
const sorted = (text: string): string[] => words(text).sort()

/** May do `verbs` with `resources`; only with those called `names`, if there are any. */
export const rule = (verbs: string, resources: string, groups = 'core', names = ''): PolicyRule => ({
  verbs: sorted(verbs),
  apiGroups: words(groups).map((group) => (group === 'core' ? '' : group)),
  resources: words(resources),
  ...(names && { resourceNames: words(names) }),
})

/** May do `verbs` with paths that are no resources. */
export const paths = (verbs: string, nonResourceURLs: string): PolicyRule => ({
  verbs: words(verbs),
  nonResourceURLs: words(nonResourceURLs),
})

/** What nearly every component may do. */
export const writeEvents = rule('create update patch', 'events', 'core events.k8s.io')
