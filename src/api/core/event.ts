/** Events: what happened to objects, for people. One kind with two views: this one and events.k8s.io. */
import type { CoreV1Event } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import { type Cell, column, name, resource, wide } from '../resource.ts'
import { eventFactRules } from './event-rules.ts'

type Event = Omit<Model<CoreV1Event>, 'eventTime' | 'series'> & {
  eventTime?: string | null
  series?: { count?: number; lastObservedTime?: string }
}

/** Times and texts that are always on the wire. */
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
    about: involvedObject.namespace,
    reporter: reportingComponent,
    reporterField: 'reportingComponent',
    reportingInstance,
    action,
    reason,
    message,
  })

const seen = (event: Event): string | undefined => event.firstTimestamp || event.eventTime || undefined

/** Of a series, what it says itself; else the last time, or the only one. */
const lastSeen = (event: Event): Cell => ({
  since: event.series ? event.series.lastObservedTime || undefined : event.lastTimestamp || seen(event),
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
  column<Event>('Last Seen', lastSeen, { description: 'How long ago it happened last.' }),
  column<Event>('Type', ({ type }) => type ?? '', { description: 'Normal or Warning.' }),
  column<Event>('Reason', ({ reason }) => reason ?? '', { description: 'What happened, in one word.' }),
  column<Event>('Object', subject, { description: 'What it is about.' }),
  wide<Event>('Subobject', ({ involvedObject }) => involvedObject.fieldPath ?? '', {
    description: 'The part of it that it is about.',
  }),
  wide<Event>('Source', source, { description: 'Who tells it.' }),
  column<Event>('Message', ({ message }) => (message ?? '').trim(), { description: 'What happened, in words.' }),
  wide<Event>('First Seen', (event) => ({ since: seen(event) }), { description: 'How long ago it happened first.' }),
  wide<Event>('Count', ({ series, count }) => (series ? (series.count ?? 0) : count || 1), {
    type: 'string',
    description: 'How often it happened.',
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
  // Names of events follow no rule.
  nameRule: () => [],
  defaults: [eventDefaults],
  validate: { object: rules },
  selectableFields: selectable,
  columns: eventColumns,
})
