/** Events of events.k8s.io: core Events with other field names, stored as those. */
import type { CoreV1Event } from '@kubernetes/client-node'
import type { KubeObject, Wire } from '../../machinery/object.ts'
import { age, type Column, column, name, resource, wide } from '../resource.ts'
import type { Event } from './event-model.ts'
import { eventRules, eventUpdateRules, newEventRules } from './event-rules.ts'

/** Unset timestamps are null in stored events: Go encodes them without omitempty. */
type Nullable<T> = { [Key in keyof T]: T[Key] | null }
type CoreEvent = KubeObject & Nullable<Omit<Wire<CoreV1Event>, keyof KubeObject>>

export const events = resource<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  model: 'EventsV1Event',
  scope: 'Namespaced',
  createOnUpdate: true,
  deletion: { defaultPropagation: 'unsupported' },
  storedAs: { resource: 'v1/events', toStorage: toCore, fromStorage: fromCore },
  defaults: [{ eventTime: null }],
  validate: { object: eventRules, create: newEventRules, update: eventUpdateRules },
  selectableFields: {
    'regarding.kind': ({ regarding }) => regarding?.kind,
    'regarding.namespace': ({ regarding }) => regarding?.namespace,
    'regarding.name': ({ regarding }) => regarding?.name,
    'regarding.uid': ({ regarding }) => regarding?.uid,
    'regarding.apiVersion': ({ regarding }) => regarding?.apiVersion,
    'regarding.resourceVersion': ({ regarding }) => regarding?.resourceVersion,
    'regarding.fieldPath': ({ regarding }) => regarding?.fieldPath,
    reason: ({ reason }) => reason,
    reportingController: ({ reportingController }) => reportingController,
    type: ({ type }) => type,
  },
  columns: eventColumns(),
})

/** Converts to a core Event, and sets the fields that Go encodes without omitempty. */
export function toCore(event: Event): KubeObject {
  const {
    note,
    regarding,
    reportingController,
    reportingInstance,
    deprecatedSource,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    eventTime,
    ...rest
  } = event
  const core: CoreEvent = {
    ...rest,
    apiVersion: 'v1',
    involvedObject: regarding ?? {},
    source: deprecatedSource ?? {},
    firstTimestamp: deprecatedFirstTimestamp ?? null,
    lastTimestamp: deprecatedLastTimestamp ?? null,
    eventTime: eventTime ?? null,
    reportingComponent: reportingController ?? '',
    reportingInstance: reportingInstance ?? '',
    ...(note && { message: note }),
    ...(deprecatedCount && { count: deprecatedCount }),
  }
  return core
}

/** Converts from a core Event. */
export function fromCore(object: KubeObject): Event {
  const {
    message,
    involvedObject,
    reportingComponent,
    reportingInstance,
    source,
    firstTimestamp,
    lastTimestamp,
    count,
    ...rest
  } = object as CoreEvent
  return {
    ...rest,
    apiVersion: 'events.k8s.io/v1',
    regarding: involvedObject ?? {},
    deprecatedSource: source ?? {},
    deprecatedFirstTimestamp: firstTimestamp ?? null,
    deprecatedLastTimestamp: lastTimestamp ?? null,
    ...(message && { note: message }),
    ...(reportingComponent && { reportingController: reportingComponent }),
    ...(reportingInstance && { reportingInstance }),
    ...(count && { deprecatedCount: count }),
  } as Event
}

function eventColumns(): readonly Column<Event>[] {
  const firstSeen = (event: Event) => event.deprecatedFirstTimestamp || event.eventTime || undefined
  const lastSeen = (event: Event) =>
    event.series ? event.series.lastObservedTime || undefined : event.deprecatedLastTimestamp || firstSeen(event)
  const object = ({ regarding }: Event) =>
    (regarding?.kind ?? '').toLowerCase() + (regarding?.name ? `/${regarding.name}` : '')
  const source = ({ deprecatedSource, reportingController, reportingInstance }: Event) => {
    const component = deprecatedSource?.component || reportingController || ''
    const instance = deprecatedSource?.host || reportingInstance
    return instance ? `${component}, ${instance}` : component
  }
  return [
    column('Last Seen', (event) => ({ since: lastSeen(event) }), { description: age.description }),
    column('Type', ({ type }) => type ?? '', { description: 'Normal or Warning.' }),
    column('Reason', ({ reason }) => reason ?? '', { description: 'The reason, in one word.' }),
    column('Object', object, { description: 'The object that the event regards.' }),
    wide('Subobject', ({ regarding }) => regarding?.fieldPath ?? '', {
      description: 'The field of the object that the event regards.',
    }),
    wide('Source', source, { description: 'The reporter of the event.' }),
    column('Message', ({ note }) => (note ?? '').trim(), { description: 'The description of the event.' }),
    wide('First Seen', (event) => ({ since: firstSeen(event) }), {
      description: 'How long ago the event first occurred.',
    }),
    wide('Count', ({ series, deprecatedCount }) => (series ? (series.count ?? 0) : deprecatedCount || 1), {
      description: 'The number of occurrences.',
    }),
    { ...name, priority: 1 },
  ]
}
