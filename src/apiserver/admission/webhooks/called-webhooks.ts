/** Which webhooks a request is to be sent to, and as what. */

import { matchConditions } from '../../../cel/admission/match-conditions.ts'
import { after } from '../../../lib/flow/after.ts'
import { forbidden, statusOf } from '../../../machinery/status-error.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { authorizerBindings, Questions, whenAnswered } from '../matching/asking-authorizer.ts'
import { requestBindings } from '../matching/bindings.ts'
import type { ConditionMetrics } from '../matching/condition-metrics.ts'
import type { Candidate, Entry, MatchIndex } from '../matching/matcher.ts'
import { type VersionedObjects, versioned } from '../matching/versions.ts'
import type { ConfiguredWebhook } from './configured-webhooks.ts'

/** How to find out. */
export interface Selecting {
  readonly index: MatchIndex<ConfiguredWebhook>
  readonly authorizer: Authorizer
  readonly conditionMetrics: ConditionMetrics
}

/**
 * The objects as the webhook wants to see them; undefined if it is not to be called. Throws a StatusError where that
 * cannot be told.
 */
export function objectsFor(
  candidate: Entry<ConfiguredWebhook> & Candidate<ConfiguredWebhook>,
  attributes: AdmissionAttributes,
  selecting: Selecting,
): VersionedObjects | undefined | Promise<VersionedObjects | undefined> {
  return after(selecting.index.meant(candidate, attributes), (meant) =>
    meant
      ? after(converted(attributes, meant.resource), (objects) =>
          conditioned(meant.value, attributes, objects, selecting),
        )
      : undefined,
  )
}

function converted(
  attributes: AdmissionAttributes,
  resource: ServedResource,
): VersionedObjects | Promise<VersionedObjects> {
  const objects = versioned(attributes, resource)
  return objects instanceof Promise ? objects.catch((error) => Promise.reject(statusOf(error))) : objects
}

function conditioned(
  { conditions, webhook }: ConfiguredWebhook,
  attributes: AdmissionAttributes,
  objects: VersionedObjects,
  { authorizer, conditionMetrics: metrics }: Selecting,
): VersionedObjects | undefined | Promise<VersionedObjects | undefined> {
  if (!conditions) return objects
  const bindings = {
    ...requestBindings(attributes, objects, undefined),
    ...authorizerBindings(new Questions(authorizer), attributes),
  }
  const begin = performance.now()
  return after(
    whenAnswered(() => matchConditions(conditions, bindings)),
    (match) => {
      const { operation, resource, name } = attributes
      metrics.evaluated(webhook.name, operation, (performance.now() - begin) / 1000, match.faults)
      if ('error' in match) throw forbidden(resource.groupResource, name, match.error)
      if (match.matches) return objects
      metrics.excluded(webhook.name, operation)
      return undefined
    },
  )
}
