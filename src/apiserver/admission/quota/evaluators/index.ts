/** How each kind is counted for quotas. */
import type { ServedResource } from '../../../registry/served-resource.ts'
import { claimEvaluator } from './claims.ts'
import type { Evaluator } from './evaluator.ts'
import { countName, objectCount } from './object-count.ts'
import { podEvaluator } from './pods.ts'
import { resourceClaimEvaluator } from './resource-claims.ts'
import { serviceEvaluator } from './services.ts'

export type { Evaluator, Scope } from './evaluator.ts'

/** What was never counted: events, and what is not stored. */
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

/** By the name under which objects of the kind are counted. */
const special: Readonly<Record<string, Evaluator>> = {
  'count/pods': podEvaluator(),
  'count/services': serviceEvaluator,
  'count/persistentvolumeclaims': claimEvaluator,
  'count/resourceclaims.resource.k8s.io': resourceClaimEvaluator,
}

const evaluators = new WeakMap<ServedResource, Evaluator | 'ignored'>()

/** Undefined for what no quota counts. */
export function evaluatorOf(resource: ServedResource): Evaluator | undefined {
  let evaluator = evaluators.get(resource)
  if (!evaluator) {
    const name = countName(resource.groupResource)
    evaluator = ignored.has(name) || !resource.namespaced ? 'ignored' : Object.hasOwn(special, name) ? special[name]! : objectCount(resource.groupResource)
    evaluators.set(resource, evaluator)
  }
  return evaluator === 'ignored' ? undefined : evaluator
}
