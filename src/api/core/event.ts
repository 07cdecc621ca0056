/** Events: human-readable reports about objects. Served in two forms: this one and that of events.k8s.io. */
import type { CoreV1Event } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import { type Cell, column, name, resource, wide } from '../resource.ts'
import { eventFactRules } from './event-rules.ts'

type Event = Omit<Model<CoreV1Event>, 'eventTime' | 'series'> & {
  eventTime?: string | null
  series?: { count?: number; lastObservedTime?: string }
}

/** Sets fields that are always present on the wire. */
function eventDefaults(event: Event): void {
  event.eventTime ??= null
  event.firstTimestamp ??= null as unknown as string
  event.lastTimestamp ??= null as unknown as string
  event.reportingComponent ??= ''
  event.reportingInstance ??= ''
  event.source ??= {}
  event.involvedObject ??= {}
}

const rules = ({
  metadata,
  involvedObject,
  eventTime,
  reportingComponent,
  reportingInstance,
  action,
  reason,
  message,
}: Event): readonly FieldError[] =>
  eventFactRules({
    namespace: metadata.namespace,
    eventTime,
    regardingNamespace: involvedObject.namespace,
    reporter: reportingComponent,
    reporterField: 'reportingComponent',
    reportingInstance,
    action,
    reason,
    message,
  })

const firstSeen = (event: Event): string | undefined => event.firstTimestamp || event.eventTime || undefined

/** Returns the last time of a series, or else the event's last or only time. */
const lastSeen = (event: Event): Cell => ({
  since: event.series ? event.series.lastObservedTime || undefined : event.lastTimestamp || firstSeen(event),
})

function source({ source: from, reportingComponent, reportingInstance }: Event): string {
  const parts = [from?.component || reportingComponent || '', from?.host || reportingInstance || '']
  return parts[1] ? parts.join(', ') : (parts[0] ?? '')
}

function subject({ involvedObject: { kind, name: of } }: Event): string {
  const lower = kind?.toLowerCase() ?? ''
  return of ? `${lower}/${of}` : lower
}

const eventColumns = [
  column<Event>('Last Seen', lastSeen, { description: 'How long ago the event last occurred.' }),
  column<Event>('Type', ({ type }) => type ?? '', { description: 'Normal or Warning.' }),
  column<Event>('Reason', ({ reason }) => reason ?? '', { description: 'The reason, in one word.' }),
  column<Event>('Object', subject, { description: 'The object that the event regards.' }),
  wide<Event>('Subobject', ({ involvedObject }) => involvedObject.fieldPath ?? '', {
    description: 'The field of the object that the event regards.',
  }),
  wide<Event>('Source', source, { description: 'The reporter of the event.' }),
  column<Event>('Message', ({ message }) => (message ?? '').trim(), { description: 'The description of the event.' }),
  wide<Event>('First Seen', (event) => ({ since: firstSeen(event) }), {
    description: 'How long ago the event first occurred.',
  }),
  wide<Event>('Count', ({ series, count }) => (series ? (series.count ?? 0) : count || 1), {
    type: 'string',
    description: 'The number of occurrences.',
  }),
  { ...name, priority: 1 as const },
]

/** Field labels of core events. */
const selectable = {
  'involvedObject.kind': ({ involvedObject }: Event) => involvedObject.kind,
  'involvedObject.namespace': ({ involvedObject }: Event) => involvedObject.namespace,
  'involvedObject.name': ({ involvedObject }: Event) => involvedObject.name,
  'involvedObject.uid': ({ involvedObject }: Event) => involvedObject.uid,
  'involvedObject.apiVersion': ({ involvedObject }: Event) => involvedObject.apiVersion,
  'involvedObject.resourceVersion': ({ involvedObject }: Event) => involvedObject.resourceVersion,
  'involvedObject.fieldPath': ({ involvedObject }: Event) => involvedObject.fieldPath,
  reason: ({ reason }: Event) => reason,
  reportingComponent: ({ reportingComponent }: Event) => reportingComponent,
  source: ({ source: from, reportingComponent }: Event) => from?.component || reportingComponent,
  type: ({ type }: Event) => type,
}

export const events = resource<Event>({
  group: '',
  version: 'v1',
  kind: 'Event',
  model: 'CoreV1Event',
  plural: 'events',
  shortNames: ['ev'],
  scope: 'Namespaced',
  createOnUpdate: true,
  deletion: { defaultPropagation: 'unsupported' },
  // Names of events are not validated.
  nameRule: () => [],
  defaults: [eventDefaults],
  validate: { object: rules },
  selectableFields: selectable,
  columns: eventColumns,
})
