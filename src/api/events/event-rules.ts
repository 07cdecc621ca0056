/** What is valid in an event of events.k8s.io. Upstream validates the core form: errors name core's fields. */
import { type FieldError, invalidValue, required } from '../../machinery/field-error.ts'
import { qualifiedName } from '../../machinery/names.ts'
import { follows, immutable } from '../field-rules.ts'
import type { Event } from './event.ts'

const longest = (field: string, value: string | undefined, max: number): FieldError[] =>
  value && value.length > max ? [invalidValue(field, '', `can have at most ${max} characters`)] : []
const text = (field: string, value: string | undefined): FieldError[] => (value ? longest(field, value, 128) : [required(field)])

/** What is wrong with an event; events made by old clients of core are held to little. */
export function eventRules(event: Event): FieldError[] {
  const isNew = !event.metadata.resourceVersion
  const errors: FieldError[] = []
  if (event.eventTime) {
    if (!event.reportingController) errors.push(required('reportingController'))
    errors.push(...follows('reportingController', event.reportingController ?? '', qualifiedName))
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
export function eventUpdateRules(event: Event, old: Event): FieldError[] {
  return [
    ...immutable('involvedObject', event.regarding, old.regarding),
    ...immutable('reason', event.reason, old.reason),
    ...immutable('message', event.note, old.note),
    ...immutable('source', event.deprecatedSource ?? {}, old.deprecatedSource ?? {}),
    ...immutable('firstTimestamp', event.deprecatedFirstTimestamp ?? null, old.deprecatedFirstTimestamp ?? null),
    ...immutable('lastTimestamp', event.deprecatedLastTimestamp ?? null, old.deprecatedLastTimestamp ?? null),
    ...immutable('count', event.deprecatedCount ?? 0, old.deprecatedCount ?? 0),
    ...immutable('type', event.type, old.type),
    ...immutable('eventTime', event.eventTime ?? null, old.eventTime ?? null),
    ...immutable('action', event.action, old.action),
    ...immutable('related', event.related, old.related),
    ...immutable('reportingController', event.reportingController, old.reportingController),
    ...immutable('reportingInstance', event.reportingInstance, old.reportingInstance),
  ]
}
