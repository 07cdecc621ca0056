/** Selects the webhooks to call for a request, and prepares the objects to send. */

import { matchConditions } from '../../../cel/admission/match-conditions.ts'
import { after } from '../../../lib/flow/after.ts'
import { forbidden, statusOf } from '../../../machinery/status-error.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { AuthorizationChecks, authorizerBindings, evaluateWithChecks } from '../matching/authorizer-variable.ts'
import { requestBindings } from '../matching/bindings.ts'
import type { ConditionMetrics } from '../matching/condition-metrics.ts'
import type { Candidate, Entry, MatchIndex } from '../matching/matcher.ts'
import { type VersionedObjects, versioned } from '../matching/versions.ts'
import type { ConfiguredWebhook } from './configured-webhooks.ts'

/** The dependencies of the selection. */
export interface WebhookSelection {
  readonly index: MatchIndex<ConfiguredWebhook>
  readonly authorizer: Authorizer
  readonly conditionMetrics: ConditionMetrics
}

/**
 * Returns the objects in the version that the webhook requires; undefined if it is not to be called. Throws a
 * StatusError if a selector, conversion or condition fails.
 */
export function objectsFor(
  candidate: Entry<ConfiguredWebhook> & Candidate<ConfiguredWebhook>,
  attributes: AdmissionAttributes,
  selecting: WebhookSelection,
): VersionedObjects | undefined | Promise<VersionedObjects | undefined> {
  return after(selecting.index.match(candidate, attributes), (matched) =>
    matched
      ? after(converted(attributes, matched.resource), (objects) =>
          checkConditions(matched.value, attributes, objects, selecting),
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

function checkConditions(
  { conditions, webhook }: ConfiguredWebhook,
  attributes: AdmissionAttributes,
  objects: VersionedObjects,
  { authorizer, conditionMetrics: metrics }: WebhookSelection,
): VersionedObjects | undefined | Promise<VersionedObjects | undefined> {
  if (!conditions) return objects
  const bindings = {
    ...requestBindings(attributes, objects, undefined),
    ...authorizerBindings(new AuthorizationChecks(authorizer), attributes),
  }
  const begin = performance.now()
  return after(
    evaluateWithChecks(() => matchConditions(conditions, bindings)),
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
