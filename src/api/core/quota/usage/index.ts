/** The usage evaluator of each kind, for quotas. */
import type { GroupNamed } from '../../../../machinery/status-error.ts'
import { claimUsage } from './claims.ts'
import { countName, objectCount } from './object-count.ts'
import { podUsage } from './pods.ts'
import { resourceClaimUsage } from './resource-claims.ts'
import { serviceUsage } from './services.ts'
import type { Usage } from './usage.ts'

export type { Scope, Usage } from './usage.ts'

/** Never counted: events, and kinds that are not stored. */
const ignored = new Set([
  'count/bindings',
  'count/componentstatuses',
  'count/events',
  'count/events.events.k8s.io',
  'count/tokenreviews.authentication.k8s.io',
  'count/selfsubjectreviews.authentication.k8s.io',
  'count/localsubjectaccessreviews.authorization.k8s.io',
  'count/selfsubjectaccessreviews.authorization.k8s.io',
  'count/selfsubjectrulesreviews.authorization.k8s.io',
  'count/subjectaccessreviews.authorization.k8s.io',
])

/** Evaluators by the object count name of the kind. */
const special: Readonly<Record<string, Usage>> = {
  'count/pods': podUsage(),
  'count/services': serviceUsage,
  'count/persistentvolumeclaims': claimUsage,
  'count/resourceclaims.resource.k8s.io': resourceClaimUsage,
}

/** Returns the evaluator of a namespaced resource, or undefined if quotas do not count it. */
export function usageOf(resource: GroupNamed): Usage | undefined {
  const name = countName(resource)
  if (ignored.has(name)) return undefined
  return Object.hasOwn(special, name) ? special[name] : objectCount(resource)
}
