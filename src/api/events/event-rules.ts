/** Validation of events.k8s.io Events. Upstream validates the core form, so errors have core's field names. */

import { semanticallyEqual } from '../../machinery/equality.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { all, immutable, valid } from '../../machinery/validation/field-rules.ts'
import { pointer, struct, text } from '../../machinery/validation/internal-type.ts'
import { eventFactRules } from '../core/event-rules.ts'
import type { Event } from './event-model.ts'

/** Validates an event; events of old core clients, without eventTime, are validated less strictly. */
export const eventRules = (event: Event): readonly FieldError[] =>
  eventFactRules({
    namespace: event.metadata.namespace,
    eventTime: event.eventTime,
    regardingNamespace: event.regarding?.namespace,
    reporter: event.reportingController,
    reporterField: 'reportingController',
    reportingInstance: event.reportingInstance,
    action: event.action,
    reason: event.reason,
    message: event.note,
  })

/** Validates rules that hold on create only. */
export function newEventRules(event: Event): readonly FieldError[] {
  const errors = [...series(event)]
  if (!event.eventTime) errors.push(required('eventTime'))
  if (event.type !== 'Normal' && event.type !== 'Warning')
    errors.push(invalidValue('type', '', `has invalid value: ${event.type ?? ''}`))
  const unset = (field: string, value: unknown) => {
    if (value) errors.push(invalidValue(field, '', 'needs to be unset'))
  }
  unset('firstTimestamp', event.deprecatedFirstTimestamp)
  unset('lastTimestamp', event.deprecatedLastTimestamp)
  unset('count', event.deprecatedCount)
  unset('source', event.deprecatedSource?.component || event.deprecatedSource?.host)
  return errors
}

function series({ series }: Event): readonly FieldError[] {
  if (!series) return valid
  return all(
    series.count < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : valid,
    series.lastObservedTime ? valid : [required('series.lastObservedTime')],
  )
}

const referenceShape = {
  Kind: text,
  Namespace: text,
  Name: text,
  UID: text,
  APIVersion: text,
  ResourceVersion: text,
  FieldPath: text,
}

/** Only the series may change; an unchanged one is not validated. Upstream reports `reason` twice. */
export function eventUpdateRules(event: Event, old: Event): readonly FieldError[] {
  return all(
    semanticallyEqual(event.series, old.series) ? valid : series(event),
    immutable(event.regarding, 'involvedObject', old.regarding, struct(referenceShape)),
    immutable(event.reason ?? '', 'reason', old.reason ?? ''),
    immutable(event.note ?? '', 'message', old.note ?? ''),
    immutable(
      event.deprecatedSource ?? {},
      'source',
      old.deprecatedSource ?? {},
      struct({ Component: text, Host: text }),
    ),
    immutable(event.deprecatedFirstTimestamp ?? null, 'firstTimestamp', old.deprecatedFirstTimestamp ?? null),
    immutable(event.deprecatedLastTimestamp ?? null, 'lastTimestamp', old.deprecatedLastTimestamp ?? null),
    immutable(event.deprecatedCount ?? 0, 'count', old.deprecatedCount ?? 0),
    immutable(event.reason ?? '', 'reason', old.reason ?? ''),
    immutable(event.type ?? '', 'type', old.type ?? ''),
    immutable(event.eventTime ?? null, 'eventTime', old.eventTime ?? null),
    immutable(event.action ?? '', 'action', old.action ?? ''),
    immutable(event.related, 'related', old.related, pointer(referenceShape)),
    immutable(event.reportingController ?? '', 'reportingController', old.reportingController ?? ''),
    immutable(event.reportingInstance ?? '', 'reportingInstance', old.reportingInstance ?? ''),
  )
}
