/** What is valid in an event of events.k8s.io. Upstream validates the core form: errors name core's fields. */
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { all, follows, immutable } from '../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'
import type { Event } from './event-model.ts'

const longest = (field: string, value: string | undefined, max: number): readonly FieldError[] =>
  value && value.length > max ? [invalidValue(field, '', `can have at most ${max} characters`)] : []
const text = (field: string, value: string | undefined): readonly FieldError[] => (value ? longest(field, value, 128) : [required(field)])

/** What is wrong with an event; events made by old clients of core are held to little. */
export function eventRules(event: Event): readonly FieldError[] {
  const isNew = !event.metadata.resourceVersion
  const errors: FieldError[] = []
  if (event.eventTime) {
    if (!event.reportingController) errors.push(required('reportingController'))
    errors.push(...follows(event.reportingController ?? '', 'reportingController', qualifiedName))
    errors.push(
      ...text('reportingInstance', event.reportingInstance),
      ...text('action', event.action),
      ...text('reason', event.reason),
      ...longest('message', event.note, 1024),
    )
  }
  if (event.series) {
    if (event.series.count < 2) errors.push(invalidValue('series.count', '', 'should be at least 2'))
    if (!event.series.lastObservedTime) errors.push(required('series.lastObservedTime'))
  }
  if (!isNew) return errors
  if (!event.eventTime) errors.push(required('eventTime'))
  if (event.type !== 'Normal' && event.type !== 'Warning') errors.push(invalidValue('type', '', `has invalid value: ${event.type ?? ''}`))
  const unset = (field: string, value: unknown) => {
    if (value) errors.push(invalidValue(field, '', 'needs to be unset'))
  }
  unset('firstTimestamp', event.deprecatedFirstTimestamp)
  unset('lastTimestamp', event.deprecatedLastTimestamp)
  unset('count', event.deprecatedCount)
  unset('source', event.deprecatedSource?.component || event.deprecatedSource?.host)
  return errors
}

/** Only the series of an event may change. */
export function eventUpdateRules(event: Event, old: Event): readonly FieldError[] {
  return all(
    immutable(event.regarding, 'involvedObject', old.regarding),
    immutable(event.reason, 'reason', old.reason),
    immutable(event.note, 'message', old.note),
    immutable(event.deprecatedSource ?? {}, 'source', old.deprecatedSource ?? {}),
    immutable(event.deprecatedFirstTimestamp ?? null, 'firstTimestamp', old.deprecatedFirstTimestamp ?? null),
    immutable(event.deprecatedLastTimestamp ?? null, 'lastTimestamp', old.deprecatedLastTimestamp ?? null),
    immutable(event.deprecatedCount ?? 0, 'count', old.deprecatedCount ?? 0),
    immutable(event.type, 'type', old.type),
    immutable(event.eventTime ?? null, 'eventTime', old.eventTime ?? null),
    immutable(event.action, 'action', old.action),
    immutable(event.related, 'related', old.related),
    immutable(event.reportingController, 'reportingController', old.reportingController),
    immutable(event.reportingInstance, 'reportingInstance', old.reportingInstance),
  )
}
